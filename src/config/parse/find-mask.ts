import { mask } from "../../text/redact.ts";
import { SecretText } from "../../text/secret-text.ts";
import type { ServerConfig } from "../keys/server-config.ts";

/**
 * The first value of `env`, `headers` or `auth` that is the mask of a secret. Whoever reads an entry from what was printed of it has
 * lost the secret, and must not be left to find out from a server that refuses the mask.
 */
export function findMask({
  transport,
  auth,
}: ServerConfig): readonly [key: "env" | "headers" | "auth", name: string] | undefined {
  const groups = {
    env: "env" in transport ? transport.env : {},
    headers: "headers" in transport ? transport.headers : {},
    auth,
  };
  for (const key of ["env", "headers", "auth"] as const)
    for (const [name, value] of Object.entries<unknown>(groups[key]))
      if (SecretText.is(value) && value.equals(mask)) return [key, name];
  return undefined;
}
