import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { truncate } from "../../text/truncate.ts";
import { type AddressKind, addressKind } from "./address-kind.ts";
import { type NetworkPolicy, allowsKind, hostKind, withoutBrackets } from "./network-policy.ts";

const maxHostChars = 100;

const descriptions: Readonly<Record<AddressKind, string>> = {
  public: "a public address",
  loopback: "this machine itself",
  private: "an address of a private network",
  "link-local": "a link-local address",
  metadata: "a metadata service, which hands out credentials",
  unspecified: "not the address of any machine",
  reserved: "reserved for special uses",
};

/**
 * The refusal of a host whose nature shows before anything is resolved or dialled: an address in any
 * notation `new URL` understands, or a name with a fixed meaning.
 */
export function judgeHost(
  hostname: string,
  policy: NetworkPolicy,
  serverName?: string,
): McpError | undefined {
  const kind = hostKind(hostname);
  if (kind === undefined || allowsKind(policy, kind)) return undefined;
  return refusal({ policy, kind, serverName, host: shown(hostname) });
}

/** The refusal of a name for what it resolved to: one bad address among many is enough. */
export function judgeAddresses(
  hostname: string,
  addresses: readonly string[],
  policy: NetworkPolicy,
): McpError | undefined {
  for (const address of addresses) {
    const kind = addressKind(address);
    if (allowsKind(policy, kind)) continue;
    return refusal({ policy, kind, host: shown(hostname), address: shown(address) });
  }
  return undefined;
}

interface Verdict {
  readonly policy: NetworkPolicy;
  readonly kind: AddressKind;
  readonly host: string;
  /** What the host resolved to, when it is a name. */
  readonly address?: string;
  readonly serverName?: string | undefined;
}

function refusal(verdict: Verdict): McpError {
  const { policy, kind, host, address, serverName } = verdict;
  const asked = policy.namedBy === "server" ? `${host}, which the server named` : host;
  const found = address === undefined ? "it is" : `it resolves to ${address},`;
  const message = `refused to connect to ${asked}: ${found} ${descriptions[kind]}`;
  return createError("blocked_address", message, {
    serverName,
    hint: hintFor(verdict),
    details: {
      host,
      ...(address === undefined ? {} : { address }),
      addressKind: kind,
      namedBy: policy.namedBy,
    },
  });
}

const switchHint = 'set "allowPrivateNetwork": true in the entry of the server';

/** The switch to set or the words to write; nothing for what no configuration allows. */
function hintFor({ policy, kind, address }: Verdict): string | undefined {
  if (kind === "private") return `${switchHint} if it may reach private networks`;
  if (policy.namedBy === "server") return undefined;
  if (kind === "unspecified") return "write 127.0.0.1 or localhost if this machine is meant";
  if (kind !== "loopback") return undefined;
  return address === undefined
    ? `write it as localhost, 127.0.0.1 or [::1], or ${switchHint}`
    : `write localhost instead if this machine is meant, or ${switchHint}`;
}

function shown(host: string): string {
  return truncate(withoutBrackets(host), maxHostChars);
}
