import type { ServerConfig } from "../config/keys/server-config.ts";
import { expandVariables } from "../config/parse/expand-variables.ts";
import {
  configuredUrlPolicy,
  type NetworkPolicy,
  serverUrlPolicy,
} from "../isolation/network/network-policy.ts";
import { reveal } from "../text/secrets/secret-text.ts";

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
