import type { McpError } from "../../errors/mcp-error.ts";
import { coerceArgument } from "../../schema/coerce-argument.ts";
import { formatUsage } from "../../schema/usage-line.ts";
import type { McpTool } from "../../session/mcp-tool.ts";
import { ownCommand } from "../../text/own-command.ts";
import { looksLikeSecret } from "../../text/secrets/redact.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Fact } from "../output/error-format.ts";
import type { TypedArgument } from "./call-words.ts";

type Arguments = Readonly<Record<string, unknown>>;

const maxEchoLength = 200;

/** The arguments to send: `base` with the typed ones over it, each read as the tool's schema asks. */
export function buildArguments(
  schema: unknown,
  base: Arguments,
  typed: readonly TypedArgument[],
): Arguments {
  const entries = typed.map((argument): [string, unknown] => [
    argument.key,
    argument.kind === "json" ? argument.value : coerceArgument(schema, argument.key, argument.text),
  ]);
  return { ...base, ...Object.fromEntries(entries) };
}

/**
 * What was given, and how the call is typed correctly: without the arguments in `wrong`. Shown to the
 * person who typed it, never logged.
 */
export function argumentFacts(
  tool: McpTool,
  args: Arguments,
  { wrong, program }: { readonly wrong: ReadonlySet<string>; readonly program: string },
): readonly Fact[] {
  const shown = JSON.parse(JSON.stringify(args, maskSecret)) as Arguments;
  const right = Object.fromEntries(Object.entries(shown).filter(([name]) => !wrong.has(name)));
  const name = neutralizeLine(`${tool.serverName}.${tool.originalName}`);
  const command = ownCommand("call", name, [], program);
  return [
    { label: "got", text: boundedLine(JSON.stringify(shown), maxEchoLength) },
    { label: "usage", text: `${command} ${formatUsage(tool.inputSchema, right)}`.trimEnd() },
  ];
}

/** The arguments that a check complained about, or about a part of: `entities` for `/entities/0/name`. */
export function wrongArguments({ details }: McpError): ReadonlySet<string> {
  const problems = (details["problems"] ?? []) as readonly { readonly path: string }[];
  return new Set(problems.map(({ path }) => nameIn(path)));
}

/** The first name of a JSON Pointer. */
function nameIn(pointer: string): string {
  const [, name = ""] = pointer.split("/", 2);
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A secret is known by its name as well as by its shape. */
function maskSecret(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  return looksLikeSecret(value) || looksLikeSecret(`${key}=xxxx`) ? "[redacted]" : value;
}
