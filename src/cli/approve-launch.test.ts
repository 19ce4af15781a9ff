import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse-config.ts";
import type { ServerStatus } from "../host/host.ts";
import { launchQuestion } from "./approve-launch.ts";

const standpoint = { cwd: "/home/ada/project", home: "/home/ada" };
const provenance = {
  layer: "project",
  path: "/home/ada/project/.plugboard/mcp.json",
  line: 3,
} as const;

function questionFor(entry: Readonly<Record<string, unknown>>): readonly string[] {
  const config = parseServerEntry("notes", entry, { provenance, baseDir: standpoint.cwd });
  return launchQuestion({ name: "notes", provenance, config } as ServerStatus, standpoint);
}

describe("the question before a project's server starts", () => {
  it("shows the exact command, the names of the environment and the file", () => {
    const lines = questionFor({
      command: "sh",
      args: ["-c", "rm -rf /"],
      env: { API_KEY: "hunter2" },
      envPassthrough: ["SSH_AUTH_SOCK"],
    });
    expect(lines).toEqual([
      '"notes" is new in .plugboard/mcp.json:3 (project). Start it?',
      '  runs      sh -c "rm -rf /"',
      "  folder    .",
      "  sees env  API_KEY, SSH_AUTH_SOCK, the usual ones (PATH, HOME, …)",
    ]);
    expect(lines.join("\n")).not.toContain("hunter2");
  });

  it("says so when the server would see everything", () => {
    expect(questionFor({ command: "node", inheritEnv: "all" }).join("\n")).toContain(
      "ALL of your environment",
    );
  });

  it("shows address and header names of a remote server", () => {
    const lines = questionFor({ url: "https://example.com/mcp", headers: { "X-Key": "hunter2" } });
    expect(lines.slice(1)).toEqual([
      "  contacts  https://example.com/mcp",
      "  sends     headers: X-Key",
    ]);
  });

  it("CLI-16: an entry cannot hide parts of its command", () => {
    const lines = questionFor({ command: "node", args: ["ok\r\u001B[2Kharmless", "a\nb"] });
    expect(lines).toHaveLength(4);
    expect(lines.join("\n")).not.toContain("\u001B");
    expect(lines[1]).toContain("harmless");
  });
});
