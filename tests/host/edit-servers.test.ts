import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { revealAll } from "../../src/text/secrets/secret-text.ts";

interface Place extends AsyncDisposable {
  readonly userFile: string;
  readonly projectFile: string;
  host(options?: HostOptions): Promise<McpHost>;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "edits-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(path.join(home, ".plugboard"), { recursive: true, mode: 0o700 });
  await mkdir(cwd);
  return {
    userFile: path.join(home, ".plugboard", "mcp.json"),
    projectFile: path.join(cwd, ".plugboard", "mcp.json"),
    host: (options) => createHost({ home, cwd, watch: false, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

describe("servers that are configured while the host runs", () => {
  it("CON-13 STO-03 STO-04: one added by the user is kept, switched off and on, and removed", async () => {
    await using place = await makePlace();
    {
      await using host = await place.host();
      expect(await host.add("tools", testServerEntry())).toMatchObject({
        state: "idle",
        provenance: { layer: "store" },
      });
      const session = host.session({ level: "yolo" });
      expect(await session.call("mcp__tools__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
      expect(await host.disable("tools")).toMatchObject({ state: "disabled" });
      expect(await session.call("mcp__tools__add", { a: 1, b: 2 })).toMatchObject({
        error: { code: "server_disabled" },
      });
    }
    {
      await using host = await place.host();
      expect(host.server("tools").state).toBe("disabled");
      expect(await host.enable("tools")).toMatchObject({ state: "idle" });
      await host.update("tools", { ...testServerEntry(), env: { A: "1" } });
      expect(revealAll(host.server("tools").config)).toMatchObject({
        transport: { env: { A: "1" } },
      });
      await host.remove("tools");
      expect(host.servers()).toEqual([]);
    }
    await using host = await place.host();
    expect(host.servers()).toEqual([]);
  });

  it("one added to the project stands in its file and waits for approval", async () => {
    await using place = await makePlace();
    await using host = await place.host();
    expect(await host.add("p", { command: "serve" }, { scope: "project" })).toMatchObject({
      state: "pending",
      provenance: { layer: "project" },
    });
    expect(JSON.parse(await readFile(place.projectFile, "utf8"))).toMatchObject({
      servers: { p: { command: "serve" } },
    });
    await host.remove("p");
    expect(host.servers()).toEqual([]);
  });

  it.each(["the file", "its folder"])(
    "L8: a link that leaves the project is not followed when the project is written: %s",
    async (link) => {
      await using place = await makePlace();
      const { userFile, projectFile } = place;
      const before = '{ "servers": { "mine": { "command": "serve" } } }';
      await writeFile(userFile, before);
      if (link === "the file") await mkdir(path.dirname(projectFile));
      await symlink(
        link === "the file" ? userFile : path.dirname(userFile),
        link === "the file" ? projectFile : path.dirname(projectFile),
      );
      await using host = await place.host();
      await expect(host.add("p", { command: "p" }, { scope: "project" })).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("a link that leaves") as unknown,
        hint: expect.stringContaining("replace the link") as unknown,
      });
      expect(await readFile(userFile, "utf8")).toBe(before);
    },
  );

  it("L8: nor when an entry is changed that was read through it", async () => {
    await using place = await makePlace();
    const outside = path.join(path.dirname(path.dirname(place.userFile)), "outside.json");
    const before = '{ "servers": { "p": { "command": "serve" } } }';
    await writeFile(outside, before);
    await mkdir(path.dirname(place.projectFile));
    await symlink(outside, place.projectFile);
    await using host = await place.host();
    const refused = { code: "config_invalid" };
    await expect(host.disable("p")).rejects.toMatchObject(refused);
    await expect(host.remove("p")).rejects.toMatchObject(refused);
    await expect(host.update("p", { command: "q" })).rejects.toMatchObject(refused);
    expect(await readFile(outside, "utf8")).toBe(before);
  });

  it("CFG-01: a link inside the repository is followed, also from a folder of it", async () => {
    await using place = await makePlace();
    const cwd = path.dirname(path.dirname(place.projectFile));
    const folder = path.join(cwd, "packages", "one");
    await mkdir(path.join(cwd, ".git"));
    await mkdir(path.join(folder, ".plugboard"), { recursive: true });
    await writeFile(path.join(cwd, "shared.json"), "{}");
    await symlink(path.join(cwd, "shared.json"), path.join(folder, ".plugboard", "mcp.json"));
    await using host = await place.host({ cwd: folder });
    await host.add("p", { command: "serve" }, { scope: "project" });
    expect(await readFile(path.join(cwd, "shared.json"), "utf8")).toContain('"serve"');
  });

  it("an entry of a file is changed in that file, and comments stay", async () => {
    await using place = await makePlace();
    await writeFile(
      place.userFile,
      '{\n  // mine\n  "servers": { "u": { "command": "serve" } }\n}\n',
    );
    await using host = await place.host();
    await host.disable("u");
    const text = await readFile(place.userFile, "utf8");
    expect(text).toContain("// mine");
    expect(text).toContain('"enabled": false');
    expect(host.server("u").state).toBe("disabled");
  });

  it("what cannot be is refused before anything is written", async () => {
    await using place = await makePlace();
    await using host = await place.host({ servers: { code: testServerEntry() } });
    await expect(host.add("code", testServerEntry())).rejects.toMatchObject({
      code: "config_invalid",
    });
    await expect(host.add("bad", { command: "a", url: "http://b" })).rejects.toMatchObject({
      code: "config_invalid",
    });
    await expect(host.remove("code")).rejects.toMatchObject({
      code: "config_invalid",
      message: '"code" is defined in code, not in a file',
    });
    await expect(host.remove("nobody")).rejects.toMatchObject({ code: "server_unknown" });
  });

  it.each(["user", "project"] as const)(
    "STO-08: one that another host has added meanwhile is not overwritten: %s",
    async (scope) => {
      await using place = await makePlace();
      await using first = await place.host();
      await using second = await place.host();
      await first.add("tools", { command: "first" }, { scope });
      await expect(second.add("tools", { command: "second" }, { scope })).rejects.toMatchObject({
        code: "config_invalid",
        details: { isTaken: true },
      });
      await second.reload();
      expect(second.server("tools").target).toBe("first");
    },
  );

  it("decision 13: what another process adds is there within a second", async () => {
    await using place = await makePlace();
    await using other = await place.host();
    await other.add("first", testServerEntry());
    await using host = await place.host({ watch: true });
    const changed = new Promise((resolve) => host.on("servers-changed", resolve));
    await other.add("second", testServerEntry());
    expect(await changed).toMatchObject({ added: ["second"], removed: [], changed: [] });
  });
});
