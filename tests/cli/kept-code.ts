import { readFileSync } from "node:fs";
import path from "node:path";

/** The file in which a command keeps its compiled code; `other` is that of all commands without one of their own. */
export function keptFile(home: string, command: string): string {
  const name = `${command}-${process.version}-${process.arch}.code`;
  return path.join(home, ".plugboard", "cache", name);
}

/** The scripts whose compiled code it holds. */
export function keptScripts(home: string, command: string): readonly string[] {
  const [header = ""] = readFileSync(keptFile(home, command), "latin1").split("\n", 1);
  return (JSON.parse(header) as readonly (readonly [string])[]).map(([script]) => script);
}
