import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { allowsKind, hostKind, type NetworkPolicy } from "./network-policy.ts";

const maxUrlChars = 8_192;

/** An address that may be shown and opened, or why it may not. */
export type CheckedPage =
  | { readonly ok: true; readonly href: string; readonly host: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Decides whether a person may be asked to open the address. It refuses whatever a program that opens
 * addresses could take for something else (another scheme, an option, a hidden part). Nothing is fetched
 * or resolved. `href` is the form that a browser works with, a look-alike name in its ASCII spelling.
 */
export function checkPage(text: unknown, policy: NetworkPolicy): CheckedPage {
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

function refuse(reason: string): CheckedPage {
  return { ok: false, reason };
}
