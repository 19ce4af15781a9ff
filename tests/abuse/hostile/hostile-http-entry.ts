import path from "node:path";

import type { HttpAccess, HttpKind, ServerEntries, ServerEntry } from "../subject.ts";

export interface HostileHttpOptions {
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly access?: Partial<HttpAccess>;
}

/** How to start the hostile HTTP server in a mode and how to talk to it. Equal ones are one process. */
export function hostileHttpEntry(
  mode: string,
  { parameters = {}, access = {} }: HostileHttpOptions = {},
): ServerEntry {
  const http: HttpAccess = { transport: "streamable-http", ...access };
  const settings = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const program = path.join(import.meta.dirname, "http-server.mjs");
  return { command: process.execPath, args: [program, mode, ...settings], http };
}

/** Dialects in which the answer to a request comes with its POST. */
export const postKinds: readonly HttpKind[] = ["streamable-http", "http-post"];
export const allKinds: readonly HttpKind[] = [...postKinds, "sse", "rest"];

/** The same server in several dialects, each by its own name. */
export function hostileHttpEntries(
  mode: string,
  kinds: readonly HttpKind[],
  { parameters = {}, access = {} }: HostileHttpOptions = {},
): ServerEntries {
  return Object.fromEntries(
    kinds.map((transport) => [
      transport,
      hostileHttpEntry(mode, { parameters, access: { ...access, transport } }),
    ]),
  );
}
