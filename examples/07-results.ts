// Results come in several shapes; all of them become text, and nothing of an outcome is lost.
import { createHost } from "plugboard";
import { testServerEntry } from "plugboard/testing";
import { mcpResultToString, toRest, toSkillResult, toToolResult } from "plugboard/tools";

class ResultObject {
  readonly content = [{ type: "text", text: "an object with content" }];
}

const parts = [
  { type: "text", text: "two" },
  { type: "text", text: "parts" },
];
for (const result of [
  { content: parts },
  { text: "text directly" },
  { result: "result directly" },
  new ResultObject(),
  "a plain string",
])
  console.log(JSON.stringify(mcpResultToString(result)));

await using host = await createHost({ config: false, servers: { test: testServerEntry() } });
const outcome = await host.session({ level: "yolo" }).call("mcp__test__add", { a: 2, b: 3 });
const { message, value, success } = toToolResult(outcome);
console.log(JSON.stringify({ message, content: value?.content, success }));
console.log(JSON.stringify(toSkillResult(outcome)));
console.log(JSON.stringify(toRest(outcome)));

// Output:
// "two\nparts"
// "text directly"
// "result directly"
// "an object with content"
// "a plain string"
// {"message":"Success","content":[{"type":"text","text":"5"}],"success":true}
// {"output":"5","error":null}
// {"result":"5"}
