import { describe, expect, it } from "vitest";

import type { LaunchQuestion, ProcessTarget } from "../../human/launch-question.ts";
import { describeLaunch } from "./describe-launch.ts";

const standpoint = { cwd: "/home/ada/project", home: "/home/ada", program: "plugboard" };

const program: ProcessTarget = {
  kind: "process",
  commandLine: 'sh -c "rm -rf /"',
  file: { status: "found", path: "/usr/bin/dash" },
  folder: standpoint.cwd,
  env: [{ name: "API_KEY", changesExecution: false }],
  envPassthrough: ["SSH_AUTH_SOCK"],
  inheritEnv: "safe",
};

const question: LaunchQuestion = {
  serverName: "notes",
  origin: { layer: "project", path: "/home/ada/project/.plugboard/mcp.json", line: 3 },
  launchId: "0".repeat(64),
  target: program,
  details: [],
  wants: [],
  packages: [],
};

const lines = (change: Partial<LaunchQuestion>): readonly string[] =>
  describeLaunch({ ...question, ...change }, standpoint);
const linesOf = (change: Partial<ProcessTarget>): readonly string[] =>
  lines({ target: { ...program, ...change } });

describe("the question before a project's server starts", () => {
  it("shows the exact command, its file, what it sets and sees of the environment and where it is written", () => {
    expect(lines({})).toEqual([
      '"notes" is new in .plugboard/mcp.json:3 (project). Start it?',
      '  runs      sh -c "rm -rf /"',
      "  file      /usr/bin/dash",
      "  folder    .",
      "  sets env  API_KEY  (not shown: it looks like a secret)",
      "  sees env  SSH_AUTH_SOCK, the usual ones (PATH, HOME, …)",
    ]);
  });

  it("L3: says which server of the user it would replace", () => {
    const origin = { layer: "user", path: "/home/ada/.plugboard/mcp.json", line: 4 };
    expect(lines({ replaces: { origin, target: "npx notes" } })).toContain(
      "  replaces  npx notes of ~/.plugboard/mcp.json:4 (user)",
    );
  });

  it("does not repeat a file that the command names itself", () => {
    const path = "/usr/bin/node";
    const shown = linesOf({ commandLine: `${path} x.js`, file: { status: "found", path } });
    expect(shown.join("\n")).not.toContain("  file");
  });

  it.each([
    [{ file: { status: "not found" } }, "  file      ⚠ not found"],
    [{ file: { status: "not looked up" } }, "  file      ⚠ only known when it starts"],
    [{ inheritEnv: "all", env: [], envPassthrough: [] }, "  sees env  ALL of your environment"],
    [{ folder: "/home/ada/other" }, "  folder    ~/other"],
    [
      { env: [{ name: "MODE", value: "fast lane", changesExecution: false }] },
      '  sets env  MODE="fast lane"',
    ],
    [
      { env: [{ name: "NODE_OPTIONS", value: "--require ./x.js", changesExecution: true }] },
      '  sets env  NODE_OPTIONS="--require ./x.js"  ⚠ changes what is executed',
    ],
  ] as const)("says so of %j", (change, line) => {
    expect(linesOf(change)).toContain(line);
  });

  it("shows the address of a remote server, what it is sent and what it wants", () => {
    const shown = lines({
      target: {
        kind: "address",
        transport: "http",
        url: "https://evil.example/mcp",
        headers: ["X-Key", "X-Other"],
      },
      details: [{ name: "allowPrivateNetwork", value: "true" }],
      wants: [{ variable: "GITHUB_TOKEN", goesTo: "header X-Key", host: "evil.example" }],
    });
    expect(shown.slice(1)).toEqual([
      "  contacts  https://evil.example/mcp",
      "  sends     headers: X-Key, X-Other",
      "  with      allowPrivateNetwork: true",
      "  wants     GITHUB_TOKEN → header X-Key to evil.example",
    ]);
  });

  it.each([
    [[{ spec: "a@1.0.0", isPinned: true }], "a@1.0.0"],
    [
      [{ spec: "a", isPinned: false }],
      "a  ⚠ not pinned: may change at any start (name a version to pin it)",
    ],
    [
      [{ spec: "a@latest", isPinned: false, pinnedSpec: "a@1.2.3" }],
      "a@latest  ⚠ not pinned: may change at any start (pinned: a@1.2.3)",
    ],
    [[{ spec: "a@1.0.0", isPinned: true, resembles: "b" }], "a@1.0.0  ⚠ looks like b, but is not"],
    ["unclear", "⚠ its options do not tell which, nor whether it is pinned"],
  ] as const)("I4: the package: %j", (packages, text) => {
    expect(lines({ packages })).toContain(`  package   ${text}`);
  });

  it("shows what is different from what was approved", () => {
    const shown = lines({
      difference: {
        approvedAt: Date.UTC(2026, 0, 2),
        changes: [
          { name: "command", was: "node", is: "sh" },
          { name: "env.A", is: "${B}" },
          { name: "env.C", was: "${D}" },
        ],
      },
    });
    expect(shown[0]).toBe(
      '"notes" in .plugboard/mcp.json:3 (project) is not what you approved on 2026-01-02. Start it?',
    );
    expect(shown.slice(-3)).toEqual([
      "  changed   command: node → sh",
      "  changed   env.A: (nothing) → ${B}",
      "  changed   env.C: ${D} → (nothing)",
    ]);
  });
});
