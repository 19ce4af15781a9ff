import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { installPackage, run } from "./package/packed-package.ts";

/** The libraries that `docs/coming-from.md` speaks of, and the server that the programs call. */
const libraries = [
  "@ai-sdk/mcp@1.0.101",
  // Asked for by LangChain, whose newest release wants a package that not every registry has yet.
  "@langchain/langgraph@1.4.13",
  "@langchain/mcp-adapters@1.1.4",
  "@mastra/core@0.24.9",
  "@mastra/mcp@0.14.5",
  "@modelcontextprotocol/sdk@1.32.2",
  "@modelcontextprotocol/server-everything@2026.8.31",
  "ai@6.0.326",
  "langchain@1.5.14",
  "mcp-use@1.34.6",
  "mcporter@0.9.0",
];

const programs = path.join(import.meta.dirname, "coming-from");
let folder: string;
/** Why the libraries are not there: a registry may lack what a new release of one of them asks for. */
let obstacle: string | undefined;

/** Where a version is missing, npm tries others for a quarter of an hour before it says so. */
const installTimeoutMs = 180_000;

beforeAll(async () => {
  ({ folder } = await installPackage());
  // They want different versions of what they share.
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--force"];
  try {
    await run("npm", ["install", ...options, ...libraries], {
      cwd: folder,
      shell: process.platform === "win32",
      timeout: installTimeoutMs,
    });
  } catch {
    obstacle = `the registry has no set of versions that fit: npm install ${libraries.join(" ")}`;
    return;
  }
  await mkdir(path.join(folder, "home"));
  for (const file of await readdir(programs))
    await copyFile(path.join(programs, file), path.join(folder, file));
}, 900_000);

beforeEach(({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** What a program prints; servers and libraries may write to stderr what they like. */
async function printed(program: string): Promise<string> {
  const home = path.join(folder, "home");
  const env = {
    ...process.env,
    HOME: home,
    USERPROFILE: home,
    MCP_USE_ANONYMIZED_TELEMETRY: "false",
  };
  const { stdout } = await run(process.execPath, [program], { cwd: folder, env });
  return stdout;
}

describe("a program that moves to Plugboard", () => {
  it.each(["mcporter", "ai-sdk-mcp", "langchain", "mcp-use", "mastra", "sdk"])(
    "from %s prints what it printed before",
    async (library) => {
      expect(await printed(`${library}-before.mjs`)).toBe("Echo: hi\n");
      expect(await printed(`${library}-after.mjs`)).toBe("Echo: hi\n");
    },
    // Some of these libraries take their time to load.
    300_000,
  );
});
