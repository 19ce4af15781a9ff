import { isIP } from "node:net";

import { type AddressKind, addressKind } from "./address-kind.ts";

/**
 * Which addresses the connections for one URL may go to, as plain data. Public ones always; link-local
 * and metadata addresses never. A policy belongs to the URL it was made for: another URL, even one in
 * the same entry, gets its own.
 */
export interface NetworkPolicy {
  readonly namedBy: "configuration" | "server";
  /** This machine itself. */
  readonly loopback: boolean;
  readonly privateNetwork: boolean;
}

/**
 * For a URL as it stands in the configuration, variables expanded. This machine must be named in
 * plain sight (`localhost`, `127.0.0.1`, `[::1]`); the many other notations, and names that happen to
 * resolve to it, need `allowPrivateNetwork`. `new URL` hides the notation, hence the text.
 */
export function configuredUrlPolicy(text: string, allowPrivateNetwork: boolean): NetworkPolicy {
  return {
    namedBy: "configuration",
    loopback: allowPrivateNetwork || namesLoopbackPlainly(text),
    privateNetwork: allowPrivateNetwork,
  };
}

/**
 * For a URL that a server named (a redirect, an endpoint, a metadata document), given that server's
 * own URL and policy. Only a server on this machine may point to this machine.
 */
export function serverUrlPolicy(server: URL, policy: NetworkPolicy): NetworkPolicy {
  return {
    namedBy: "server",
    loopback: policy.loopback && hostKind(server.hostname) === "loopback",
    privateNetwork: policy.privateNetwork,
  };
}

export function allowsKind(policy: NetworkPolicy, kind: AddressKind): boolean {
  switch (kind) {
    case "public":
      return true;
    case "loopback":
      return policy.loopback;
    case "private":
      return policy.privateNetwork;
    case "link-local":
    case "metadata":
    case "unspecified":
    case "reserved":
      return false;
  }
}

/** Names of metadata services. Without a proxy their addresses give them away. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "instance-data.ec2.internal",
  "metadata.tencentyun.com",
]);

/**
 * What the host of a parsed URL is known to be without asking anybody; `undefined` for a name that
 * must be resolved. Names under `localhost` mean this machine (RFC 6761), whatever DNS says.
 */
export function hostKind(hostname: string): AddressKind | undefined {
  const host = withoutBrackets(hostname);
  if (isIP(host) !== 0) return addressKind(host);
  const name = host.toLowerCase().replace(/\.+$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return "loopback";
  return metadataNames.has(name) ? "metadata" : undefined;
}

/** An IPv6 address as sockets take it. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Whether the host stands in `text` letter by letter as it is understood, and means this machine. */
function namesLoopbackPlainly(text: string): boolean {
  const written = /^https?:\/\/(\[[^\]]*\]|[^/?#:]*)/i.exec(text)?.[1]?.toLowerCase();
  if (written === undefined || !URL.canParse(text)) return false;
  if (new URL(text).hostname !== written || written.endsWith(".")) return false;
  // The one IPv6 notation that people read as "this machine"; mapped IPv4 addresses are not.
  return written === "[::1]" || (!written.startsWith("[") && hostKind(written) === "loopback");
}
