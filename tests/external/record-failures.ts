// Records what others say to the cases of `failures/`, into one text for each of them:
// `node tests/external/record-failures.ts <folder>` with a Node that runs TypeScript, where the folder has mcporter and
// @modelcontextprotocol/inspector installed. Nothing judges these texts; they show what ours is measured by.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type FailureCase, failureCases, openPlace } from "./failures/cases.ts";
import { goldenTable, goldenText, writeCase } from "./failures/golden-text.ts";

const [peers = "."] = process.argv.slice(2);
const longestMs = 45_000;

interface Peer {
  readonly name: string;
  readonly packageName: string;
  readonly program: string;
  readonly wordsFor: (file: string) => readonly string[];
}

const commands: readonly Peer[] = [
  {
    name: "mcporter",
    packageName: "mcporter",
    program: "dist/cli.js",
    wordsFor: (file) => ["--config", file, "list", "notes"],
  },
  {
    name: "inspector",
    packageName: "@modelcontextprotocol/inspector",
    program: "clients/launcher/build/index.js",
    wordsFor: (file) => ["--cli", "--config", file, "--server", "notes", "--method", "tools/list"],
  },
];

for (const peer of commands) {
  const told = new Map<string, string>();
  for (const failure of failureCases) told.set(failure.title, await ask(failure, peer));
  const manifest = readFileSync(path.join(folderOf(peer), "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { readonly version: string };
  const title = `# ${peer.packageName} ${version}, with ${peer.wordsFor("<file>").join(" ")}`;
  const file = path.join(import.meta.dirname, "failures", `${peer.name}.txt`);
  writeFileSync(file, `${title}\n\n${goldenTable(told)}`);
}

function folderOf({ packageName }: Peer): string {
  return path.join(peers, "node_modules", packageName);
}

async function ask(failure: FailureCase, peer: Peer): Promise<string> {
  await using place = await openPlace();
  const folder = mkdtempSync(path.join(tmpdir(), "failures-"));
  const [cwd, home] = [path.join(folder, "project"), path.join(folder, "home")];
  for (const made of [cwd, home]) mkdirSync(made);
  const words = peer.wordsFor(writeCase(failure, place, cwd));
  const text = await new Promise<string>((resolve) => {
    const child = execFile(
      process.execPath,
      [path.join(folderOf(peer), peer.program), ...words],
      {
        cwd,
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          // Otherwise the Inspector explains in five lines that it found no keychain.
          MCP_INSPECTOR_SECRET_STORE: "memory",
          ...failure.env,
        },
        timeout: longestMs,
        killSignal: "SIGKILL",
      },
      (error, stdout, stderr) => {
        const end =
          error?.killed === true ? "no end within the time" : `exit code ${error?.code ?? 0}`;
        resolve(`${stdout}${stderr}\n${end}`);
      },
    );
    child.stdin?.end();
  });
  return goldenText(text, { folder, peers: path.resolve(peers) });
}
