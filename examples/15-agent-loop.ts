// An agent loop without a framework: a scripted model calls tools of a server and one of the program's
// own, and each call takes the same seven steps.
import { CapabilitySet, createHost, toProviderSchema } from "plugboard";
import { createMemoryServer, createRecordedServer } from "plugboard/testing";

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const filesystem = createRecordedServer({
  tools: [
    { name: "read_file", description: "Reads a file", inputSchema: path },
    { name: "list_directory", description: "Lists a folder", inputSchema: path },
    { name: "write_file", description: "Writes a file", inputSchema: path },
  ],
  answers: ({ arguments: { path: file } }) =>
    file === "notes.txt"
      ? { content: [{ type: "text", text: "buy milk" }] }
      : { content: [{ type: "text", text: `${String(file)} does not exist` }], isError: true },
});
await using host = await createHost({
  config: false,
  servers: { filesystem: () => createMemoryServer(filesystem).transport },
});

// `mcp:filesystem:write_file` is not granted; about the rest nobody is asked, because there is no level.
const capabilities = new CapabilitySet()
  .grant("mcp:filesystem:read_file", "execute")
  .grant("mcp:filesystem:list_directory", "execute");
const session = host.session({ agent: "reader", capabilities });
session.defineTool<{ readonly text: string }>({
  name: "count_words",
  description: "Counts words",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  handler: ({ text }) => String(text.split(" ").length),
});

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface Turn {
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
}

/** Stands for any provider: it sees the tools with their schemas, and the answers to its calls. */
const script: readonly Turn[] = [
  {
    calls: [
      { id: "call_1", name: "mcp__filesystem__read_file", input: { path: "notes.txt" } },
      { id: "call_2", name: "mcp__filesystem__read_file", input: { path: "nothing.txt" } },
    ],
  },
  {
    calls: [
      { id: "call_3", name: "count_words", input: { text: "buy milk" } },
      { id: "call_4", name: "mcp__filesystem__write_file", input: { path: "notes.txt" } },
    ],
  },
  { text: "Your note has two words." },
];

// Step 5 as everybody sees it: what is sent to which server.
session.on("call-start", ({ callId, serverName, toolName }) =>
  console.log(`  ${callId}: asks ${serverName ?? "the program"} for ${toolName}`),
);

/** What the model reads of a call: always text, whatever happens. */
async function answer({ id, name, input }: ToolCall): Promise<string> {
  // 1. The loop has the call. 2. It hands it to the session, where the name is looked up (3), the
  // capability checked (4), the tool run (5) and its result made text (6).
  const outcome = await session.call(name, input, { callId: id });
  // 7. The text goes back to the loop.
  return outcome.ok ? outcome.text : `${outcome.error.code}: ${outcome.error.message}`;
}

for (const turn of script) {
  // Asked anew for each turn: servers come, go and change their lists.
  const tools = (await session.loadTools()).map(({ name, inputSchema }) => ({
    name,
    parameters: toProviderSchema(inputSchema),
  }));
  console.log(`The model sees ${tools.map(({ name }) => name).join(", ")}.`);
  const answers = await Promise.all((turn.calls ?? []).map((call) => answer(call)));
  for (const [index, text] of answers.entries())
    console.log(`  ${turn.calls?.[index]?.id} → ${text}`);
  if (turn.text !== undefined) console.log(turn.text);
}

// Output:
// The model sees count_words, mcp__filesystem__read_file, mcp__filesystem__list_directory.
//   call_1: asks filesystem for read_file
//   call_2: asks filesystem for read_file
//   call_1 → buy milk
//   call_2 → tool_error: nothing.txt does not exist
// The model sees count_words, mcp__filesystem__read_file, mcp__filesystem__list_directory.
//   call_3: asks the program for count_words
//   call_3 → 2
//   call_4 → denied: the agent was not granted mcp:filesystem:write_file
// The model sees count_words, mcp__filesystem__read_file, mcp__filesystem__list_directory.
// Your note has two words.
