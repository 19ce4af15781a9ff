// The client that the official conformance suite judges: one process per scenario, the address of the
// scenario's server as the last argument. It is a program with Plugboard as anybody could write it:
// everything comes from the package's entries, and the revision is negotiated, never chosen by scenario.
import {
  createHost,
  type Human,
  McpError,
  type McpHost,
  type McpTool,
  type ServerStatus,
  type Session,
  type ToolArguments,
} from "plugboard";
import { connectClient } from "plugboard/client";
import type { FieldValue, FormField } from "plugboard/human";

import { sampleObject } from "./sample-value.ts";
import { authFor, type SignInContext } from "./sign-in-entry.ts";

interface ToolCall {
  readonly name: string;
  readonly arguments?: ToolArguments;
}

/** Where arguments matter, the scenario says which calls it wants, word for word. */
interface ScenarioContext extends SignInContext {
  readonly toolCalls?: readonly ToolCall[];
}

const serverName = "judge";
const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as ScenarioContext;
const entry = {
  url,
  protocol: "auto",
  ...(scenario.startsWith("auth/") && { auth: authFor(scenario, context) }),
};

/** Somebody who agrees to everything and leaves alone what has a default. */
const agreeable: Human = {
  elicit: async (question) => {
    if (question.kind === "url") return { action: "accept" };
    const open = question.fields.filter((field) => field.isRequired && field.default === undefined);
    const content = Object.fromEntries(open.map((field) => [field.name, sampleAnswer(field)]));
    return { action: "accept", content };
  },
  openUrl: async () => undefined,
};

function sampleAnswer(field: FormField): FieldValue {
  switch (field.type) {
    case "text":
      return "sample";
    case "number":
    case "integer":
      return field.minimum ?? 1;
    case "boolean":
      return true;
    case "choice":
      return field.options[0]?.value ?? "";
    case "choices":
      return field.options.slice(0, field.minItems ?? 1).map(({ value }) => value);
  }
}

/** Whether it is about a sign-in that a person can do something about. */
function wantsSignIn({ code }: { readonly code: string }): boolean {
  return code === "auth_required" || code === "auth_scope_missing";
}

/** Lets the person sign in. How often that makes sense is for the host to know: its own error ends it. */
async function signIn(host: McpHost): Promise<void> {
  await host.login(serverName, { present: ({ url: page }) => browse(page) });
}

async function connect(host: McpHost): Promise<ServerStatus> {
  try {
    return await host.connect(serverName);
  } catch (error) {
    if (!McpError.is(error) || !wantsSignIn(error)) throw error;
    log(`${error.code}: ${error.message}`);
    await signIn(host);
    return await connect(host);
  }
}

/** A browser with somebody in it who agrees: it goes wherever it is sent. */
async function browse(page: string): Promise<undefined> {
  const response = await fetch(page);
  log(`the browser ended with ${response.status}`);
  await response.arrayBuffer();
}

/** Lists and uses all that the server offers. */
async function useServer(host: McpHost): Promise<void> {
  const { problems, toolCount } = await connect(host);
  if (toolCount === undefined) throw new Error("the tools could not be listed");
  for (const { toolName, text } of problems) log(`${toolName ?? serverName}: ${text}`);
  const session = host.session({ agent: "conformance", level: "yolo" });
  const tools = session.tools().filter(({ unusable }) => unusable === undefined);
  for (const tool of tools)
    for (const args of argumentsFor(tool, tools)) {
      const refused = await callTool(host, session, { tool, args });
      if (refused && context.toolCalls !== undefined) await callUnchecked(tool.originalName, args);
    }
  await readContent(session);
}

/** One entry for each call of the tool. */
function argumentsFor(
  { originalName, inputSchema }: McpTool,
  tools: readonly McpTool[],
): readonly ToolArguments[] {
  const { toolCalls } = context;
  if (toolCalls !== undefined)
    return toolCalls.filter(({ name }) => name === originalName).map((it) => it.arguments ?? {});
  if (originalName !== "json_schema_echo") return [sampleObject(inputSchema)];
  // It wants to see whether the schema of its neighbour has arrived whole.
  const neighbour = tools.find((tool) => tool.originalName === "json_schema_2020_12_tool");
  return [{ schema: neighbour?.inputSchema }];
}

/**
 * Whether the host would not send it. Any other failure is told, and fails the run at its end: most
 * scenarios look at what they are sent and not at what becomes of their answer.
 */
async function callTool(
  host: McpHost,
  session: Session,
  call: { readonly tool: McpTool; readonly args: ToolArguments },
): Promise<boolean> {
  const { tool, args } = call;
  const outcome = await session.call(tool.name, args);
  if (outcome.ok) return false;
  const { code, message } = outcome.error;
  log(`${tool.originalName}: ${code}: ${message}`);
  if (code === "invalid_arguments") return true;
  if (wantsSignIn({ code })) {
    await signIn(host);
    return await callTool(host, session, call);
  }
  process.exitCode = 1;
  return false;
}

/**
 * The host sends nothing that the tool's own schema rules out. One scenario asks for that (`null`
 * where the schema says boolean), so there the client without checks has to do it.
 */
async function callUnchecked(name: string, args: ToolArguments): Promise<void> {
  await using client = await connectClient(entry);
  // The list says which arguments travel as headers too.
  await client.listTools();
  await client.callTool(name, args);
}

async function readContent({ content }: Session): Promise<void> {
  for (const { uri } of await content.resources({ server: serverName }))
    await content.readResource(serverName, uri);
  for (const { name, arguments: args } of await content.prompts({ server: serverName }))
    await content.prompt(
      serverName,
      name,
      Object.fromEntries(args.map((argument) => [argument.name, "sample"])),
    );
}

function log(text: string): void {
  console.error(text);
}

try {
  await using host = await createHost({
    config: false,
    servers: { [serverName]: entry },
    human: agreeable,
    sampling: async () => ({ model: "sample", content: "sample" }),
    roots: [],
  });
  await useServer(host);
} catch (error) {
  log(McpError.is(error) ? `${error.code}: ${error.message}` : String(error));
  process.exitCode = 1;
}
