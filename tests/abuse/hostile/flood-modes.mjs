// @ts-check
import { handshake } from "./line-server.mjs";
import { complete, discovery, toolList } from "./modern-answers.mjs";

/** @typedef {import("./line-server.mjs").Peer} Peer */
/** @typedef {NonNullable<import("./line-server.mjs").Behaviour["methods"]>} Methods */

const linesPerPiece = 500;

/** `count` lines in pieces, each made by `line` from its index. @param {number} count @param {(index: number) => object} line */
function* lines(count, line) {
  for (let start = 0; start < count; start += linesPerPiece) {
    let piece = "";
    for (let index = start; index < Math.min(count, start + linesPerPiece); index += 1)
      piece += `${JSON.stringify(line(index))}\n`;
    yield piece;
  }
}

/** By kind: the host has a use for the first and none for the second. @type {Record<string, (index: number) => object>} */
const notifications = {
  log: (index) => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", data: `flood ${index}` },
  }),
  unknown: (index) => ({ jsonrpc: "2.0", method: "notifications/flood", params: { index } }),
};

/** What servers may ask of clients that declared it, and what nobody may. */
const questions = [
  { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
  { method: "elicitation/create", params: { message: "Your password?", requestedSchema: {} } },
  { method: "roots/list" },
  { method: "tools/call", params: { name: "echo" } },
];

const ping = "ping";

/** Counts what the client answers to requests of ours. */
function createAnswers() {
  // `granted`: questions that were not refused; a ping is none.
  const counts = { answered: 0, granted: 0 };
  /** @param {{ id: unknown, result?: unknown }} answer */
  const onAnswer = ({ id, result }) => {
    counts.answered += 1;
    if (result !== undefined && !String(id).startsWith(ping)) counts.granted += 1;
  };
  return { counts, onAnswer };
}

/** @param {Peer} peer @param {string} from */
function askEverything(peer, from) {
  for (const [index, question] of questions.entries())
    peer.send({ jsonrpc: "2.0", id: `${from}-${index}`, ...question });
}

/** The handshake of each era, and the list of the modern one, behind questions. @type {Record<string, (tag: string) => Methods>} */
const askingMethods = {
  legacy: (tag) => ({
    initialize: (id, _params, peer) => {
      askEverything(peer, "initialize");
      peer.respond(id, handshake(tag));
    },
  }),
  modern: () => ({
    "server/discover": (id, _params, peer) => {
      askEverything(peer, "discover");
      peer.respond(id, discovery);
    },
    "tools/list": (id, _params, peer) => {
      askEverything(peer, "list");
      peer.respond(id, toolList);
    },
  }),
};

/** Messages that nobody asked for, or too many of them. @type {Record<string, import("./modes.mjs").Mode>} */
export const floodModes = {
  /** As many notifications of `kind` as the call says, after those of earlier calls, and then the answer. */
  "notification-flood": ({ kind = "log" }) => {
    let poured = Promise.resolve();
    return {
      async onCall(call, peer) {
        const line = notifications[kind];
        poured = poured.then(() => line && peer.pour(lines(call.args["n"], line)));
        await poured;
        peer.answer(call);
      },
    };
  },

  /** As many requests as the call says; a second call asks how many were answered. */
  "request-flood": () => {
    const { counts, onAnswer } = createAnswers();
    return {
      onAnswer,
      async onCall(call, peer) {
        const count = call.args["n"] ?? 0;
        const all = [{ method: ping }, ...questions];
        await peer.pour(
          lines(count, (index) => {
            const { method } = all[index % all.length] ?? { method: ping };
            return { jsonrpc: "2.0", id: `${method}-${index}`, method };
          }),
        );
        peer.respond(call.id, { content: [], structuredContent: counts });
      },
    };
  },

  /** Asks for everything in and after the handshake and in every call, which tells what was answered. */
  "unsolicited-requests": ({ era = "legacy", tag = "asker" }) => {
    const { counts, onAnswer } = createAnswers();
    return {
      onAnswer,
      onNotification: ({ method }, peer) => askEverything(peer, method),
      onCall({ id }, peer) {
        askEverything(peer, `call-${id}`);
        const result = { content: [], structuredContent: counts };
        peer.respond(id, era === "modern" ? { ...complete, ...result } : result);
      },
      methods: askingMethods[era]?.(tag) ?? {},
    };
  },

  /** Reads nothing after the first call; again after `ms`, if that is given. Answers what it has read. */
  "never-read": ({ ms = 0 }) => {
    let isFirst = true;
    return {
      onCall(call, peer) {
        peer.answer(call);
        if (!isFirst) return;
        isFirst = false;
        peer.stopReading();
        if (ms > 0) setTimeout(() => peer.resumeReading(), ms);
      },
    };
  },
};
