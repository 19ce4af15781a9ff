import type { ServerConfig } from "../config/keys/server-config.ts";
import { expandVariables } from "../config/parse/expand-variables.ts";
import {
  allowsKind,
  configuredUrlPolicy,
  hostKind,
  type NetworkPolicy,
  serverUrlPolicy,
} from "../isolation/network/network-policy.ts";
import { reveal } from "../text/secrets/secret-text.ts";
import { neutralizeLine } from "../text/untrusted/neutralize.ts";

const maxUrlChars = 8_192;

/** An address that may be shown and opened, or why it may not. */
export type CheckedUrl =
  | { readonly ok: true; readonly href: string; readonly host: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Decides whether a person may be asked to open the address. It refuses whatever a program that opens
 * addresses could take for something else (another scheme, an option, a hidden part). Nothing is fetched
 * or resolved. `href` is the form that a browser works with, a look-alike name in its ASCII spelling.
 */
export function checkElicitationUrl(text: unknown, policy: NetworkPolicy): CheckedUrl {
  if (typeof text !== "string" || text.length > maxUrlChars)
    return refuse(`its address is not a text of at most ${maxUrlChars} characters`);
  if (/[\s\\]/.test(text) || neutralizeLine(text) !== text)
    return refuse("its address contains characters that no address has");
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return refuse("its address is not a web page");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    return refuse("its address contains a user name or password");
  const kind = hostKind(url.hostname);
  if (url.protocol === "http:" && kind !== "loopback")
    return refuse("its address is not encrypted (http)");
  if (kind !== undefined && !allowsKind(policy, kind))
    return refuse(`its address leads to a ${kind} address, which this server may not name`);
  return { ok: true, href: url.href, host: url.host };
}

/** The networks that a server may send a person to: a server on this machine may name this machine. */
export function urlPolicyOf(
  { transport }: ServerConfig,
  environment: Readonly<Record<string, string | undefined>>,
): NetworkPolicy {
  if (!("url" in transport)) return { namedBy: "server", loopback: true, privateNetwork: false };
  const expansion = expandVariables(reveal(transport.url), environment);
  if (!expansion.ok || !URL.canParse(expansion.text))
    return { namedBy: "server", loopback: false, privateNetwork: false };
  const own = configuredUrlPolicy(expansion.text, transport.allowPrivateNetwork);
  return serverUrlPolicy(new URL(expansion.text), own);
}

function refuse(reason: string): CheckedUrl {
  return { ok: false, reason };
}
