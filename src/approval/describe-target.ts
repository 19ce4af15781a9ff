import type { ServerConfig } from "../config/keys/server-config.ts";
import { redact } from "../text/secrets/redact.ts";
import { neutralizeLine } from "../text/untrusted/neutralize.ts";

/** The lines of configs, which never change: every status of every server shows one. */
const known = new WeakMap<ServerConfig, string>();

/** Says in one line what would be started or contacted, as the entry has it and without anything secret. */
export function describeTarget(config: ServerConfig): string {
  let target = known.get(config);
  if (target === undefined) {
    target = targetOf(config);
    known.set(config, target);
  }
  return target;
}

function targetOf({ transport }: ServerConfig): string {
  switch (transport.kind) {
    case "stdio":
      return redact(neutralizeLine([transport.command, ...transport.args].join(" ")));
    case "http":
    case "streamable-http":
    case "sse":
    case "http-post":
    case "rest":
      return redact(neutralizeLine(transport.url.toString()));
    case "memory":
      return "given in code";
    case "none":
      return "";
  }
}
