import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import type { Environment } from "../../config/variables/reference-values.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { hostKind, withoutBrackets } from "./network-policy.ts";

/** A proxy from the environment of the host, trusted like the rest of it. */
export interface HttpProxy {
  /** Without user name and password. */
  readonly url: URL;
  /** The variable it came from, for messages. */
  readonly variable: string;
  /** The value of `Proxy-Authorization`; never in a message. */
  readonly authorization: string | undefined;
}

/**
 * The proxy for connections to `target`, by the variables that other programs read too. Lower case
 * wins, and an empty value means none. This machine is never reached through a proxy.
 */
export function chooseProxy(target: URL, env: Environment): HttpProxy | undefined {
  const scheme = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variable = [scheme, scheme.toUpperCase(), "all_proxy", "ALL_PROXY"].find(
    (name) => env[name] !== undefined,
  );
  const value = variable === undefined ? undefined : env[variable]?.trim();
  if (variable === undefined || value === undefined || value === "") return undefined;
  if (hostKind(target.hostname) === "loopback") return undefined;
  if (isExempt(target, env["no_proxy"] ?? env["NO_PROXY"] ?? "")) return undefined;
  return parseProxy(value, variable);
}

function parseProxy(value: string, variable: string): HttpProxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) throw unusable(variable, "is not the address of a proxy");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw unusable(variable, "names a proxy that is neither http: nor https:");
  const authorization = basicAuthorization(url, variable);
  return { url: new URL(url.origin), variable, authorization };
}

function basicAuthorization(url: URL, variable: string): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  let credentials: string;
  try {
    credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  } catch {
    throw unusable(variable, "holds a user name or password with a stray % (write it as %25)");
  }
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}

/** The value stays out of it: it may hold a password. */
function unusable(variable: string, problem: string): McpError {
  return createError("config_invalid", `the variable ${variable} ${problem}`, {
    hint: `set ${variable} to http://host:port, or unset it`,
    details: { variable },
  });
}

/** `NO_PROXY`: names with all that is below them, addresses, ranges, each with an optional port; `*`. */
function isExempt(target: URL, list: string): boolean {
  const host = withoutBrackets(target.hostname).replace(/\.$/, "");
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && matchesEntry(entry, host, port));
}

function matchesEntry(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  const [, bracketed, plain, wantedPort] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  // What is left is an IPv6 address or range without brackets, which cannot have a port.
  const pattern = bracketed ?? plain ?? entry;
  if (isIP(host) !== 0) return matchesAddress(pattern, host);
  const name = pattern.replace(/^\*?\./, "");
  return name !== "" && (host === name || host.endsWith(`.${name}`));
}

function matchesAddress(pattern: string, host: string): boolean {
  const ip = ipaddr.process(host);
  if (isIP(pattern) !== 0) return ipaddr.process(pattern).toString() === ip.toString();
  if (!ipaddr.isValidCIDR(pattern)) return false;
  const [base, bits] = ipaddr.parseCIDR(pattern);
  return base.kind() === ip.kind() && ip.match(base, bits);
}
