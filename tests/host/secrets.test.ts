import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { loadConfig, SecretText } from "../../src/entries/config.ts";
import { createHost, type HostOptions, type McpHost, modelText } from "../../src/index.ts";

const leaking = fileURLToPath(new URL("../fixtures/servers/leaking-server.mjs", import.meta.url));
const key = "-----BEGIN KEY-----\ncanary-line-77\n-----END KEY-----";
const entry = {
  command: process.execPath,
  args: [leaking, "--token", "canary-arg-1", "--api-key=canary-arg-2"],
  env: { API_TOKEN: "canary-token-7", PRIVATE_KEY: key },
};
const remote = {
  url: "http://127.0.0.1:9/mcp?key=canary-query",
  headers: { "X-Secret": "canary-header" },
  auth: { type: "bearer", token: "canary-bearer" },
} as const;

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  readonly userFile: string;
  readonly projectFile: string;
  host(options?: HostOptions): Promise<McpHost>;
  /** All that lies in the host's own folder, as one text. */
  stored(): Promise<string>;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "secrets-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  const folder = path.join(home, ".plugboard");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkdir(cwd);
  return {
    home,
    cwd,
    userFile: path.join(folder, "mcp.json"),
    projectFile: path.join(cwd, ".plugboard", "mcp.json"),
    host: (options) => createHost({ home, cwd, watch: false, ...options }),
    stored: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((item) => item.isFile());
      const texts = files.map((item) => readFile(path.join(item.parentPath, item.name), "latin1"));
      return (await Promise.all(texts)).join("\n");
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

/** Every way in which an object is printed without anyone asking for its secrets. */
function printed(value: object): string {
  const copy = { ...value };
  return [value, copy].map((it) => `${inspect(it, { depth: 9 })}${JSON.stringify(it)}`).join("\n");
}

/** What the server says it was started with. */
async function givenTo(host: McpHost, name: string): Promise<unknown> {
  const outcome = await host.session({ level: "yolo" }).call(`mcp__${name}__given`, {});
  expect(outcome).toMatchObject({ ok: true });
  return JSON.parse(outcome.text);
}

describe("secrets of servers", () => {
  it("ENV-12 CFG-46: status and loaded configuration can be printed", async () => {
    await using place = await makePlace();
    await writeFile(place.userFile, JSON.stringify({ servers: { local: entry, remote } }));
    const { home, cwd } = place;
    const loaded = await loadConfig({ home, cwd, env: {} });
    expect(loaded.servers).toHaveLength(2);
    await using host = await place.host({ servers: { code: entry } });
    const configs = host.servers().map(({ config }) => config);
    for (const value of [loaded, ...loaded.servers, host.servers(), ...host.servers(), ...configs])
      expect(printed(value)).not.toContain("canary");
    for (const { transport, auth } of configs)
      expect(printed({ ...transport, auth: { ...auth } })).not.toContain("canary");
    expect(host.server("local").target).toMatch(/--token \[redacted\] --api-key=\[redacted\]$/);
    expect(host.server("remote").target).toBe("http://127.0.0.1:9/mcp?key=[redacted]");
  });

  it("ENV-12: a configuration is handed back as it is, and the server gets its secrets", async () => {
    await using place = await makePlace();
    {
      await using host = await place.host();
      await host.add("local", entry);
      await host.add("copy", host.server("local").config);
      await host.update("local", { ...host.server("local").config, callTimeoutMs: 9_000 });
      await host.add("remote", { ...remote, headers: { "X-Secret": new SecretText("canary-2") } });
    }
    await using host = await place.host();
    expect(host.server("local").config).toMatchObject({ callTimeoutMs: 9_000 });
    for (const name of ["local", "copy"])
      expect(await givenTo(host, name)).toMatchObject({
        env: entry.env,
        args: entry.args.slice(1),
      });
    // Each has its own: the one that was copied can go.
    await host.remove("local");
    await host.disconnect("copy");
    expect(await givenTo(host, "copy")).toMatchObject({ env: entry.env });

    // A configuration of the store is a reference: another host needs the same store for it.
    const { config } = host.server("copy");
    await using second = await place.host({ servers: { given: { ...config } } });
    expect(await givenTo(second, "given")).toMatchObject({ env: entry.env });
    await using third = await createHost({ config: false, servers: [config] });
    await expect(third.connect("copy")).rejects.toMatchObject({ code: "variable_unset" });
  });

  it("ENV-12: what is shown of a stored entry can be handed back, masks included", async () => {
    await using place = await makePlace();
    await using host = await place.host();
    await host.add("local", entry);
    const shown = JSON.parse(JSON.stringify(host.server("local").config)) as object;
    await host.update("local", { ...shown });
    expect(await givenTo(host, "local")).toMatchObject({ env: entry.env });
    const env = { API_TOKEN: "[redacted]", PRIVATE_KEY: "[redacted]" };
    await host.update("local", { command: entry.command, args: [leaking], env });
    expect(await givenTo(host, "local")).toMatchObject({ env: entry.env, args: [] });
    // A mask of what never was there stands for nothing.
    await expect(
      host.update("local", { command: "run", env: { OTHER_TOKEN: "[redacted]" } }),
    ).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("is the mask of a secret"),
    });
  });

  it.each(["project", "user"] as const)(
    "STO-09: no file gets a secret, whoever hands it over: %s",
    async (layer) => {
      await using place = await makePlace();
      const plain = { servers: { f: { command: "run" } } };
      await writeFile(place.userFile, JSON.stringify(plain));
      await mkdir(path.dirname(place.projectFile));
      await writeFile(place.projectFile, JSON.stringify({ servers: { p: { command: "run" } } }));
      await using host = await place.host();
      await host.add("local", entry);
      const refused = { code: "invalid_arguments" };
      for (const given of [entry, host.server("local").config, remote]) {
        const writing =
          layer === "user"
            ? host.update("f", given)
            : host.add("shared", given, { scope: "project" });
        await expect(writing).rejects.toMatchObject(refused);
        if (layer === "project")
          await expect(host.update("p", given)).rejects.toMatchObject(refused);
      }
      const files = [place.userFile, place.projectFile].map((file) => readFile(file, "utf8"));
      expect((await Promise.all(files)).join("")).not.toMatch(/canary|secret/);
    },
  );

  it("ENV-12: output and errors hold no argument, and no line of a key", async () => {
    await using place = await makePlace();
    const script =
      "console.error(process.argv.join(' '), process.env.PRIVATE_KEY); process.exit(3)";
    const failing = { ...entry, args: ["-e", script, "--", ...entry.args] };
    await using host = await place.host({ servers: { local: entry, failing } });
    await host.connect("local");
    expect(host.logs("local").join("\n")).toContain("[redacted]");
    const error = await host.connect("failing").catch((caught: unknown) => caught);
    const shown = [
      host.logs("local").join("\n"),
      host.logs("failing").join("\n"),
      inspect(error, { depth: 9 }),
      JSON.stringify(error),
      printed(host.servers()),
    ];
    expect(shown.join("\n")).toContain("exit");
    expect(shown.join("\n")).not.toContain("canary");
  });

  it("ENV-12: the error of a tool that repeats a secret reaches neither a person nor a model with it", async () => {
    await using place = await makePlace();
    await using host = await place.host({ servers: { s: entry } });
    const events: unknown[] = [];
    host.on("*", (event) => events.push(event));
    const session = host.session({ level: "yolo" });
    await session.ready();
    const outcome = await session.call("mcp__s__fail", {});
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "tool_error" },
      structured: { sent: ["key=[redacted]"] },
    });
    await using client = await connectClient({ name: "s", ...entry });
    const result = await client.callTool("fail");
    const shown = [
      printed(outcome),
      await session.execute("mcp__s__fail"),
      modelText(outcome),
      printed(events),
      printed(await host.audit.query({})),
      printed(result),
      result.toText(),
    ].join("\n");
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain("canary");
  });

  it("ENV-12: a secret in the name of a tool is masked, and the tool is called by the masked name", async () => {
    await using place = await makePlace();
    await writeFile(place.userFile, JSON.stringify({ servers: { s: entry } }));
    const names = ["leak__redacted__2", "leak__redacted__again", "leak__redacted", "given", "fail"];
    {
      await using host = await place.host();
      const events: unknown[] = [];
      host.on("*", (event) => events.push(event));
      const session = host.session({ level: "yolo" });
      await session.ready();
      const tools = session.tools();
      expect(tools.map(({ name }) => name)).toEqual(names.map((name) => `mcp__s__${name}`));
      expect((await session.call("mcp__s__leak__redacted__2", {})).text).toBe("ran the first");
      expect((await session.call("mcp__s__leak__redacted__again", {})).text).toBe("ran the second");
      expect((await session.call("mcp__s__leak__redacted", {})).text).toBe("ran another");
      const rows = await host.audit.query({});
      const shown = [
        inspect(tools, { depth: 9 }),
        printed(host.servers()),
        await host.emitTypes("s"),
        inspect(await host.pins.list(), { depth: 9 }),
        inspect(rows, { depth: 9 }),
        inspect(events, { depth: 9 }),
      ].join("\n");
      expect(shown).toContain("leak_[redacted]_again");
      expect(shown).not.toContain("canary");
    }
    await rm(place.userFile);
    expect(await place.stored()).not.toContain("canary");
    // The names come from the store this time, and the server is started by the call.
    await writeFile(place.userFile, JSON.stringify({ servers: { s: entry } }));
    await using host = await place.host();
    const session = host.session({ level: "yolo" });
    expect(session.tools()).toHaveLength(5);
    expect((await session.call("mcp__s__leak__redacted__2", {})).text).toBe("ran the first");
  });
});
