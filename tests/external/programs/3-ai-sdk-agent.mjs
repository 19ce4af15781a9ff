// An agent with the AI SDK: the model calls a tool of a server and reads what it answered.
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createHost } from "plugboard";
import { aiSdkTools } from "plugboard/adapters";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const call = { type: "tool-call", toolCallId: "1", toolName: "mcp__everything__get-sum" };
const turn = { usage, warnings: [] };
// In place of a model that costs something.
const model = new MockLanguageModelV3({
  doGenerate: [
    {
      ...turn,
      content: [{ ...call, input: '{"a":2,"b":3}' }],
      finishReason: { unified: "tool-calls" },
    },
    { ...turn, content: [{ type: "text", text: "It is 5." }], finishReason: { unified: "stop" } },
  ],
});

const host = await createHost({
  servers: {
    everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
  },
});
const session = host.session({ agent: "main", level: "yolo" });
const { text, steps } = await generateText({
  model,
  prompt: "What is 2 + 3?",
  tools: await aiSdkTools(session),
  stopWhen: stepCountIs(5),
});
console.log(steps[0].toolResults[0].output.text);
console.log(text);
await host.close();

// Output:
// The sum of 2 and 3 is 5.
// It is 5.
