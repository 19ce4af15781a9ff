import { createInterface } from "node:readline";

import { formatOrigin } from "../config/config-problem.ts";
import { createError } from "../errors/families.ts";
import type { McpHost, ServerStatus } from "../host/host.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { redact } from "../text/redact.ts";
import type { CommandContext } from "./command-context.ts";
import { displayPath, type Standpoint } from "./display-path.ts";

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
  if (await answersYes(context)) host.approve(status.name);
}

/** What would be started, completely: the answer covers exactly this. */
export function launchQuestion(status: ServerStatus, standpoint: Standpoint): readonly string[] {
  const { name, provenance, config } = status;
  const { transport } = config;
  const path =
    provenance.path === undefined ? {} : { path: displayPath(provenance.path, standpoint) };
  const origin = formatOrigin({ ...provenance, ...path });
  const rows: readonly (readonly [string, string])[] =
    transport.kind === "stdio"
      ? [
          ["runs", [transport.command, ...transport.args].map((word) => quoteWord(word)).join(" ")],
          ["folder", transport.cwd === undefined ? "." : displayPath(transport.cwd, standpoint)],
          ["sees env", visibleEnvironment(transport)],
        ]
      : "url" in transport
        ? [
            ["contacts", transport.url],
            ["sends", `headers: ${Object.keys(transport.headers).join(", ") || "none of its own"}`],
          ]
        : [];
  return [
    `"${neutralizeLine(name)}" is new in ${neutralizeLine(origin)} (${provenance.layer}). Start it?`,
    ...rows.map(([label, text]) => `  ${label.padEnd(8)}  ${redact(neutralizeLine(text))}`),
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

function visibleEnvironment(transport: {
  readonly env: Readonly<Record<string, string>>;
  readonly envPassthrough: readonly string[];
  readonly inheritEnv: keyof typeof inherited;
}): string {
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
