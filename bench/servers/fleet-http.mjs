import { answerPosts } from "./answer-posts.mjs";
import { createAnswer } from "./echo-answers.mjs";
import { createTool, createTools } from "./fleet-tools.mjs";

// Many servers in one process, at `/mcp/0`, `/mcp/1` and so on, each with tools of its own. The first
// lacks its last tool; a line of stdin adds it, which the server reports on its stream. The others have none.

const toolCount = Number(process.argv[2]);
const listChanged = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
});

/** @type {Map<number, import("./echo-answers.mjs").Answer>} */
const answers = new Map();

/** Creates a server when it is first asked: all of them at once would delay the first answer. @param {number} index */
function answerOf(index) {
  const answer = answers.get(index) ?? createAnswer({ tools: createTools(index, toolCount) });
  answers.set(index, answer);
  return answer;
}

const changingTools = createTools(0, toolCount - 1);
answers.set(0, createAnswer({ tools: changingTools, reportsChanges: true }));
/** @type {Set<import("node:http").ServerResponse>} */
const streams = new Set();
// Clients open the stream in the background, and a change may come first.
let isReported = true;

function addTool() {
  changingTools.push(createTool(0, changingTools.length));
  isReported = false;
  report();
}

function report() {
  if (streams.size === 0 || isReported) return;
  isReported = true;
  for (const stream of streams) stream.write(`data: ${listChanged}\n\n`);
}

/** @param {string} path */
const indexOf = (path) => Number(path.slice(path.lastIndexOf("/") + 1));

answerPosts({
  answerAt: (path) => answerOf(indexOf(path)),
  openStream: (path, response) => {
    if (indexOf(path) !== 0) return false;
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.add(response);
    response.once("close", () => streams.delete(response));
    report();
    return true;
  },
});

process.stdin.on("data", addTool);
