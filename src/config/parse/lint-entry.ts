import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import type { FieldPath, Report } from "../keys/check-value.ts";
import {
  isUsersOwn,
  type NamingPreset,
  type ServerConfig,
  type StdioTransportConfig,
} from "../keys/server-config.ts";
import { beginsWithFolder, hasReference, needsExpansion } from "../variables/variable-reference.ts";
import type { ReadEntry } from "./read-entry.ts";

const relativePath = /^\.\.?(?:[\\/]|$)/;
const plainName = /^[a-z][a-z0-9_-]{0,31}$/;

/** Warns about values that are allowed but probably not meant. No message repeats a value. */
export function lintEntry(
  config: ServerConfig,
  at: ReadEntry["at"],
  report: Report,
  naming: NamingPreset | undefined,
): void {
  const warn = (path: FieldPath, message: string): void => report("warning", path, message);
  if ((config.naming ?? naming) === "prefix_tool" && !plainName.test(config.name)) {
    const rule = "a small letter, then at most 31 small letters, digits, _ or -";
    warn(at("name"), `the name is an odd prefix for tools: better ${rule}`);
  }
  if (config.transport.kind !== "stdio") return;
  lintStdio(config.transport, at, warn);
  if (isUsersOwn(config.provenance)) lintFolder(config.transport, at, warn);
}

/**
 * Warns about relative paths that the server will not find, because it starts in another folder than the
 * user's.
 */
function lintFolder(
  { command, args, cwd }: StdioTransportConfig,
  at: ReadEntry["at"],
  warn: (path: FieldPath, message: string) => void,
): void {
  if (cwd !== undefined) return;
  const remedy = 'write the whole path, or "cwd": "${workspaceFolder}"';
  const folder = "and the server starts in a folder of its own";
  if (relativePath.test(command))
    warn(at("command"), `"command" is a relative path, ${folder}: ${remedy}`);
  for (const [index, arg] of args.entries())
    if (relativePath.test(reveal(arg)))
      warn(at("args"), `argument ${index + 1} is a relative path, ${folder}: ${remedy}`);
}

function lintStdio(
  transport: StdioTransportConfig,
  at: ReadEntry["at"],
  warn: (path: FieldPath, message: string) => void,
): void {
  const { command, args, cwd, expandArgs, inheritEnv } = transport;
  for (const [index, arg] of args.entries()) {
    if (!SecretText.is(arg)) continue;
    const where = `argument ${index + 1}`;
    warn(at("args"), `${where} looks like a credential, and every process can read it: use "env"`);
  }
  if (inheritEnv === "all")
    warn(at("inheritEnv"), '"inheritEnv" is all: the server sees every variable, secrets included');
  if (/^[^\s/\\]+\s+\S/.test(command))
    warn(at("command"), '"command" holds spaces: arguments belong in "args"');
  if (!expandArgs && args.some((arg) => needsExpansion(reveal(arg))))
    warn(at("args"), '"${…}" in "args" is passed on as written, unless "expandArgs" is true');
  if (needsExpansion(command))
    warn(at("command"), '"${…}" in "command" is only replaced where it names a folder');
  if (cwd !== undefined && hasReference(cwd) && (!beginsWithFolder(cwd) || needsExpansion(cwd)))
    warn(
      at("cwd"),
      '"${…}" in "cwd" is not replaced, except "${workspaceFolder}" and "${userHome}" at its beginning',
    );
}
