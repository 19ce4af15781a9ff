import { createInterface } from "node:readline";

import type { StdioTransportConfig, TransportConfig } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { McpHost, ServerStatus } from "../host/host.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { redact } from "../text/redact.ts";
import type { CommandContext } from "./command-context.ts";
import { displayPath, type Standpoint } from "./display-path.ts";
import { originOf } from "./server-status.ts";

/**
 * Asks whether a server that a project brought along may start, where there is someone to ask. Without
 * an answer it stays unapproved, and whatever needs it fails as `not_approved`.
 */
export async function offerApproval(
  context: CommandContext,
  host: McpHost,
  status: ServerStatus,
): Promise<void> {
  if (status.state !== "pending" || !context.terminal.isInteractive || context.options.json) return;
  for (const line of launchQuestion(status, context.standpoint)) context.terminal.note(line);
  if (await answersYes(context)) await host.approve(status.name);
}

/** What would be started, completely: the answer covers exactly this. */
export function launchQuestion(status: ServerStatus, standpoint: Standpoint): readonly string[] {
  const { name, provenance, config } = status;
  const origin = `${originOf(status, standpoint)} (${provenance.layer})`;
  return [
    `"${neutralizeLine(name)}" is new in ${neutralizeLine(origin)}. Start it?`,
    ...launchRows(config.transport, standpoint).map(
      ([label, text]) => `  ${label.padEnd(8)}  ${redact(neutralizeLine(text))}`,
    ),
  ];
}

function launchRows(
  transport: TransportConfig,
  standpoint: Standpoint,
): readonly (readonly [label: string, text: string])[] {
  if (transport.kind === "stdio")
    return [
      ["runs", [transport.command, ...transport.args].map((word) => quoteWord(word)).join(" ")],
      ["folder", transport.cwd === undefined ? "." : displayPath(transport.cwd, standpoint)],
      ["sees env", visibleEnvironment(transport)],
    ];
  if (transport.kind === "memory" || transport.kind === "none") return [];
  const headers = Object.keys(transport.headers).join(", ");
  return [
    ["contacts", transport.url],
    ["sends", `headers: ${headers === "" ? "none of its own" : headers}`],
  ];
}

/** Quoted where a blank or a quote would blur where one argument ends and the next begins. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : JSON.stringify(word);
}

const inherited = {
  safe: "the usual ones (PATH, HOME, …)",
  none: "nothing of yours",
  all: "ALL of your environment",
} as const;

function visibleEnvironment(transport: StdioTransportConfig): string {
  const { env, envPassthrough, inheritEnv } = transport;
  return [...Object.keys(env), ...envPassthrough, inherited[inheritEnv]].join(", ");
}

/** Enter, end of input and anything but y mean no. */
function answersYes({ signal, terminal }: CommandContext): Promise<boolean> {
  return new Promise((resolve, reject) => {
    terminal.prompt("[y/N] ");
    // Not in terminal mode: the terminal edits the line itself, and Ctrl-C stays a signal.
    const lines = createInterface({ input: process.stdin, terminal: false });
    let answer: string | undefined;
    const cancel = (): void => lines.close();
    if (signal.aborted) queueMicrotask(cancel);
    else signal.addEventListener("abort", cancel, { once: true });
    lines.once("line", (line) => {
      answer = line;
      lines.close();
    });
    lines.once("close", () => {
      signal.removeEventListener("abort", cancel);
      if (answer === undefined) terminal.note("");
      if (signal.aborted) reject(createError("cancelled", "cancelled before anything was run"));
      else resolve(/^\s*y(?:es)?\s*$/i.test(answer ?? ""));
    });
  });
}
