import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, expect } from "vitest";

// Every suite gets a HOME of its own. The real one is never read, and the sentinel proves that the
// product wrote nothing beside its own folder.
const outside = { ...process.env };
const home = mkdtempSync(path.join(tmpdir(), "plugboard-home-"));
const sentinel = path.join(home, ".sentinel");
writeFileSync(sentinel, "untouched");

// Which protocol core the suite runs on is the one thing a caller may choose.
const kept: ReadonlySet<string> = new Set(["PLUGBOARD_PROTOCOL_CORE"]);
for (const name of Object.keys(process.env)) {
  const isOurs = name.startsWith("PLUGBOARD_") || name.startsWith("XDG_");
  if (isOurs && !kept.has(name)) delete process.env[name];
}
process.env["HOME"] = home;
process.env["USERPROFILE"] = home;
process.env["TMPDIR"] = path.join(home, "tmp");
mkdirSync(process.env["TMPDIR"]);
delete process.env["NODE_EXTRA_CA_CERTS"];

afterAll(() => {
  expect(readFileSync(sentinel, "utf8")).toBe("untouched");
  rmSync(home, { recursive: true, force: true });
  // The next suite of this process begins where this one began.
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, outside);
});
