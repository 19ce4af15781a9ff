import { canonicalHash } from "../text/canonical-hash.ts";
import type { ToolOrigin } from "./tool-origin.ts";

/** Every LLM provider accepts up to this many of `A-Z a-z 0-9 _ -`. */
export const maxNameLength = 64;
/** Digits of a hash in a name: short enough to read past, long enough not to meet by accident. */
export const hashLength = 8;

/** Hashes the origin of a tool to `length` hexadecimal digits. */
export function originHash({ server, tool }: ToolOrigin, length: number): string {
  return canonicalHash([server, tool]).slice(0, length);
}

/** A name for a server or tool whose own name has no usable character. */
export function nameless(kind: "server" | "tool", origin: ToolOrigin): string {
  return `${kind}_${originHash(origin, hashLength)}`;
}

/** `name` as it is when it is valid; otherwise NFKC with each run of other characters replaced. */
export function replaceInvalid(name: string, replacement: "_" | "-"): string {
  const normal = name.normalize("NFKC");
  if (/^[A-Za-z0-9_-]*$/.test(normal)) return normal;
  return trimSeparators(normal.replace(/[^A-Za-z0-9_-]+/g, replacement));
}

/** Applies the rule of `mcp_server_tool`: lower case, every run of other characters becomes one `_`. */
export function toSnakeCase(name: string): string {
  return trimSeparators(
    name
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_"),
  );
}

/** Applies the rule of NEXUS3: lower case, single hyphens stay, a leading digit gets a `_`. */
export function toSnakeCaseKeepingHyphens(name: string): string {
  const normal = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .replace(/[_-]{2,}/g, "_");
  return trimSeparators(normal).replace(/^(?=\d)/, "_");
}

export function trimSeparators(name: string): string {
  return name.replace(/^[_-]+|[_-]+$/g, "");
}

/** Cuts a name to `limit` characters, the last ones being a hash of the origin when something had to go. */
export function shortenName(name: string, limit: number, origin: ToolOrigin): string {
  return name.length <= limit ? name : appendHash(name, limit, originHash(origin, hashLength));
}

export function appendHash(name: string, limit: number, hash: string): string {
  return `${name.slice(0, limit - hash.length - 1)}_${hash}`;
}
