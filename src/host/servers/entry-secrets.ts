import { looksSecret } from "../../config/variables/secret-values.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { looksLikeSecret } from "../../text/secrets/redact.ts";

/**
 * Refuses an entry that holds a secret: what an entry holds is written into a file. The error says where it stands and
 * how to refer to it, and repeats no part of it.
 */
export function refuseSecrets(entry: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of texts(entry["env"]))
    if (looksSecret(name, value))
      throw secret(`the variable ${name}`, `export ${name} in your shell, and give: -e ${name}`);
  for (const [name, value] of texts(entry["headers"]))
    if (looksSecret(name, value)) throw secret(`the header ${name}`, variableHint);
  for (const [name, value] of texts(entry["auth"]))
    if (looksSecret(name, value)) throw secret(`auth.${name}`, variableHint);
  if (typeof entry["url"] === "string" && looksLikeSecret(entry["url"]))
    throw secret("the address", variableHint);
  const { command = [], args = [] } = entry;
  if ([command, args].flat().some((word) => typeof word === "string" && looksLikeSecret(word)))
    throw secret("a word of the command", "most servers read it from a variable: -e NAME");
}

const variableHint = "export it in your shell, and write ${VARIABLE} in its place";

function texts(members: unknown): readonly (readonly [name: string, value: string])[] {
  if (!isJsonObject(members)) return [];
  return Object.entries(members).filter(
    (member): member is [string, string] => typeof member[1] === "string",
  );
}

function secret(where: string, hint: string): McpError {
  return createError("invalid_arguments", `${where}: this looks like a secret, and is not kept`, {
    hint,
  });
}
