import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type McpHost } from "../../src/index.ts";
import { makeProject } from "./project.ts";

const secret = "canary-1234567890";
const commented = `{
  // ours
  "servers": {
    "project": {
      "command": "run", // how it starts
      "args": ["--token=${secret}", "-v"],
      "env": { "API_KEY": "${secret}", "MODE": "fast", "REF": "\${TOKEN}" },
      "call_timeout": 5
    },
    "other": { "command": "other" }
  }
}
`;

describe("an entry that is edited", () => {
  it("CFG-41: shows no secret, and gets back those whose placeholders are left", async () => {
    await using project = await makeProject();
    const file = path.join(project.cwd, ".plugboard", "mcp.json");
    await writeFile(file, commented);
    await using host = await project.host();
    const { entry, revision } = await host.editableEntry("project");
    expect(JSON.stringify(entry)).not.toContain("canary");
    expect(entry).toEqual({
      command: "run",
      args: ["--token=[secret: args.0]", "-v"],
      env: { API_KEY: "[secret: env.API_KEY]", MODE: "fast", REF: "${TOKEN}" },
      call_timeout: 5,
    });
    const env = { ...(entry["env"] as object), MODE: "slow" };
    await host.update("project", { ...entry, env }, { revision });
    expect(await readFile(file, "utf8")).toBe(commented.replace('"fast"', '"slow"'));
  });

  it("is refused when it is no longer what was read, and other entries do not matter", async () => {
    await using project = await makeProject();
    const file = path.join(project.cwd, ".plugboard", "mcp.json");
    await writeFile(file, commented);
    await using host = await project.host();
    const { entry, revision } = await host.editableEntry("project");
    const changed = { ...entry, start: "eager" as const };
    const mine = commented.replace('"other" }', '"another" }');
    await writeFile(file, mine.replace('"-v"', '"-vv"'));
    await expect(host.update("project", changed, { revision })).rejects.toMatchObject({
      code: "config_invalid",
      details: { isOutdated: true },
    });
    await writeFile(file, mine);
    await host.update("project", changed, { revision });
    expect(await readFile(file, "utf8")).toMatch(/"start": "eager"[^]*"another"/);
  });

  it("can be one of the store or of memory; one of code is not edited", async () => {
    await using project = await makeProject();
    const editOf = async (host: McpHost): Promise<void> => {
      await host.add("mine", { command: "run", env: { API_KEY: secret } });
      const { entry, revision } = await host.editableEntry("mine");
      expect(entry).toMatchObject({ env: { API_KEY: "[secret: env.API_KEY]" } });
      await host.update("mine", { ...entry, args: ["x"] }, { revision });
      expect(host.server("mine").target).toBe("run x");
      const { transport } = host.server("mine").config;
      expect(JSON.stringify(transport)).not.toContain("[secret:");
      await expect(host.update("mine", entry, { revision })).rejects.toMatchObject({
        details: { isOutdated: true },
      });
      const moved = { command: "run", env: { OTHER: "[secret: env.NONE]" } };
      await expect(host.update("mine", moved)).rejects.toMatchObject({ code: "config_invalid" });
    };
    await using kept = await project.host();
    await editOf(kept);
    const servers = { given: { command: "run" } };
    await using memory = await createHost({ config: false, servers });
    await editOf(memory);
    await expect(memory.editableEntry("given")).rejects.toMatchObject({ code: "config_invalid" });
    await expect(memory.editableEntry("gven")).rejects.toMatchObject({ code: "server_unknown" });
  });
});
