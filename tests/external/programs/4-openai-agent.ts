// An agent loop with the OpenAI client.
import OpenAI from "openai";
import { createHost } from "plugboard";
import { openAiTools, runOpenAiCalls } from "plugboard/adapters";

// In place of a model that costs something.
const call = {
  id: "1",
  type: "function",
  function: { name: "mcp__memory__create_entities", arguments: "" },
};
const entities = [{ name: "Ada", entityType: "person", observations: ["likes tea"] }];
call.function.arguments = JSON.stringify({ entities });
const answers: readonly object[] = [
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "assistant", content: "Noted." },
];
let turn = 0;
const client = new OpenAI({
  apiKey: "none",
  fetch: async () => Response.json({ choices: [{ index: 0, message: answers[turn++] }] }),
});

const host = await createHost({
  servers: {
    memory: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-memory"],
      env: { MEMORY_FILE_PATH: `${import.meta.dirname}/memory.jsonl` },
    },
  },
});
const session = host.session({ agent: "main", level: "yolo" });

const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "Remember that Ada likes tea." },
];
for (;;) {
  const { choices } = await client.chat.completions.create({
    model: "any",
    messages,
    tools: await openAiTools(session),
  });
  const message = choices[0]?.message;
  if (message === undefined) break;
  messages.push(message);
  if (message.tool_calls === undefined) {
    console.log(message.content);
    break;
  }
  messages.push(...(await runOpenAiCalls(session, message.tool_calls)));
}
const known = await session.call("memory.search_nodes", { query: "Ada" });
console.log(known.text.includes("likes tea"));
await host.close();

// Output:
// Noted.
// true
