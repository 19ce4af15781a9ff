import path from "node:path";

import type { ServerEntry } from "../subject.ts";

/** How to start the hostile server in a mode, e.g. `hostileEntry("deep-json", { depth: 100_000 })`. */
export function hostileEntry(
  mode: string,
  parameters: Readonly<Record<string, string | number>> = {},
): ServerEntry {
  const settings = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const program = path.join(import.meta.dirname, "server.mjs");
  return { command: process.execPath, args: [program, mode, ...settings] };
}
