import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import type { ValueProvider } from "../../src/config/keys/server-config.ts";
import { SecretText } from "../../src/entries/config.ts";
import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { makeProject, type Project } from "./project.ts";

const leaking = fileURLToPath(new URL("../fixtures/servers/leaking-server.mjs", import.meta.url));
const canary = "kestrel-4711-meadow";

/** An entry whose server tells what it was started with. */
function telling(env: Readonly<Record<string, string>>) {
  return { command: process.execPath, args: [leaking], env };
}

async function environmentOf(host: McpHost, name: string): Promise<Record<string, string>> {
  const outcome = await host.session({ level: "yolo" }).call(`mcp__${name}__given`, {});
  expect(outcome).toMatchObject({ ok: true });
  return (JSON.parse(outcome.text) as { readonly env: Record<string, string> }).env;
}

async function writeUserFile({ home }: Project, servers: object): Promise<void> {
  await mkdir(path.join(home, ".plugboard"), { recursive: true, mode: 0o700 });
  await writeFile(path.join(home, ".plugboard", "mcp.json"), JSON.stringify({ servers }));
}

describe("${secret:name}", () => {
  it("ENV-14: is replaced when the server starts, from what was stored before", async () => {
    await using project = await makeProject();
    await writeUserFile(project, { s: telling({ API_TOKEN: "${secret:github_token}" }) });
    {
      await using host = await project.host();
      await host.secrets.set("github_token", canary);
      expect(await host.secrets.list()).toEqual(["github_token"]);
    }
    await using host = await project.host();
    // What a tool gives on success is the program's; all else is watched.
    expect(await environmentOf(host, "s")).toMatchObject({ API_TOKEN: canary });
    const events: unknown[] = [];
    host.on("*", (event) => events.push(event));
    await host.reconnect("s");
    await host.session({ level: "yolo" }).call("mcp__s__fail", {});
    // The server says it wherever it can: in its name, in names of tools, in its output.
    const shown = [
      inspect(host.servers(), { depth: 9 }),
      host.logs("s").join("\n"),
      inspect(events, { depth: 9 }),
      inspect(await host.audit.query({}), { depth: 9 }),
    ].join("\n");
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain(canary);
  });

  it("ENV-14: a secret that changes is the one of the next start, and one that is gone stops it", async () => {
    await using project = await makeProject();
    await writeUserFile(project, { s: telling({ TOKEN: "Bearer ${secret:t}" }) });
    await using host = await project.host();
    await host.secrets.set("t", canary);
    expect(await environmentOf(host, "s")).toMatchObject({ TOKEN: `Bearer ${canary}` });
    await host.secrets.set("t", "another-value");
    await host.reconnect("s");
    expect(await environmentOf(host, "s")).toMatchObject({ TOKEN: "Bearer another-value" });
    expect(await host.secrets.remove("t")).toBe(true);
    await expect(host.reconnect("s")).rejects.toMatchObject({
      code: "variable_unset",
      message: expect.stringMatching(/^\$\{secret:t\} is not stored \(.*mcp\.json:1\)$/) as unknown,
      hint: expect.stringMatching(/plugboard secret set t$/),
      details: { variable: "secret:t", field: "env.TOKEN" },
    });
  });

  it("ENV-14: the program's own secrets are asked first, at each start, and are not kept", async () => {
    await using project = await makeProject();
    const asked: string[] = [];
    await using host = await project.host({
      servers: { s: telling({ A: "${secret:a}", B: "${secret:b}" }) },
      secrets: async (name) => {
        asked.push(name);
        return name === "a" ? `${canary}-${asked.length}` : undefined;
      },
    });
    await host.secrets.set("a", "the vault's a");
    await host.secrets.set("b", "the vault's b");
    expect(await environmentOf(host, "s")).toMatchObject({ A: `${canary}-1`, B: "the vault's b" });
    await host.reconnect("s");
    expect(asked).toEqual(["a", "b", "a", "b"]);
    expect(await environmentOf(host, "s")).toMatchObject({ A: `${canary}-3` });
  });

  it.each([
    ["rejects", () => Promise.reject(new Error(`no ${canary} here`)), "could not be given"],
    [
      "throws",
      () => {
        throw new TypeError(canary);
      },
      "could not be given",
    ],
    ["gives something else", () => ({ canary }) as unknown as string, "something else than text"],
  ])(
    "ENV-14: a program that %s is named by the secret, never by a value",
    async (_what, secrets, text) => {
      await using host = await createHost({
        config: false,
        servers: { s: telling({ A: "${secret:a}" }) },
        secrets,
      });
      const error = await host.connect("s").catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "secret_unavailable" });
      expect(inspect(error, { depth: 9 })).toContain(`\${secret:a} `);
      expect(inspect(error, { depth: 9 })).toContain(text);
      expect(inspect(error, { depth: 9 })).not.toContain(canary);
    },
  );

  it("a host that keeps nothing keeps a secret until it is closed", async () => {
    await using host = await createHost({
      config: false,
      servers: { s: telling({ A: "${secret:a}" }) },
    });
    await expect(host.connect("s")).rejects.toMatchObject({ code: "variable_unset" });
    await host.secrets.set("a", canary);
    expect(await environmentOf(host, "s")).toMatchObject({ A: canary });
  });

  it.each(["", "a b", "entry/x", "../x", "a\n", "-x", "x".repeat(129)])(
    "a secret cannot be called %j",
    async (name) => {
      await using host = await createHost({ config: false });
      await expect(host.secrets.set(name, "value")).rejects.toMatchObject({
        code: "invalid_arguments",
      });
    },
  );
});

describe("a function in place of a value", () => {
  const entry = (token: ValueProvider) => ({
    command: process.execPath,
    args: [leaking],
    env: { API_TOKEN: token, MODE: "fast" },
  });

  it("ENV-14: is called at each start, and what it gives is kept and shown nowhere", async () => {
    await using project = await makeProject();
    let starts = 0;
    const secrets = new Map([["github_token", canary]]);
    const token = () => `${secrets.get("github_token")}-${(starts += 1)}`;
    await using host = await project.host({ servers: { s: entry(token) } });
    expect(starts).toBe(0);
    expect(await environmentOf(host, "s")).toMatchObject({
      API_TOKEN: `${canary}-1`,
      MODE: "fast",
    });
    await host.reload();
    expect(host.server("s").state).toBe("connected");
    await host.reconnect("s");
    expect(await environmentOf(host, "s")).toMatchObject({ API_TOKEN: `${canary}-2` });
    const shown = [inspect(host.servers(), { depth: 9 }), JSON.stringify(host.servers())];
    expect([...shown, host.logs("s")].join("\n")).not.toContain(canary);

    // A copy of the configuration has the function still.
    await using second = await createHost({
      config: false,
      servers: { given: { ...host.server("s").config } },
    });
    expect(await environmentOf(second, "given")).toMatchObject({ API_TOKEN: `${canary}-3` });
    await using third = await createHost({ config: false });
    await third.connect({ name: "named", ...entry(async () => new SecretText(canary)) });
    expect(await environmentOf(third, "named")).toMatchObject({ API_TOKEN: canary });
  });

  it("ENV-14: gives headers and the token of a bearer, as they are", async () => {
    const seen: (string | undefined)[][] = [];
    const server = createServer(({ headers }, response) => {
      seen.push([headers.authorization, String(headers["x-key"])]);
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await using host = await createHost({
      config: false,
      servers: {
        s: {
          url: `http://127.0.0.1:${port}/mcp`,
          headers: { "X-Key": () => "${NOT_REPLACED}" },
          auth: { type: "bearer", token: () => Promise.resolve(canary) },
        },
      },
    });
    await expect(host.connect("s")).rejects.toBeDefined();
    server.close();
    expect(seen[0]).toEqual([`Bearer ${canary}`, "${NOT_REPLACED}"]);
  });

  it.each<[string, ValueProvider, object]>([
    [
      "nothing",
      () => undefined,
      {
        code: "variable_unset",
        message: expect.stringContaining('"env.API_TOKEN" was given as nothing') as unknown,
      },
    ],
    ["an error", () => Promise.reject(new Error(canary)), { code: "secret_unavailable" }],
  ])("ENV-14: one that gives %s is named by its key", async (_what, token, expected) => {
    await using host = await createHost({ config: false, servers: { s: entry(token) } });
    const error = await host.connect("s").catch((caught: unknown) => caught);
    expect(error).toMatchObject(expected);
    expect(inspect(error, { depth: 9 })).not.toContain(canary);
  });

  it("cannot be kept, nor stand where a file could have it", async () => {
    await using project = await makeProject();
    await using host = await project.host({ servers: { s: entry(() => canary) } });
    const refused = {
      code: "config_invalid",
      message: "a function in place of a value cannot be kept",
    };
    for (const scope of ["user", "project"] as const) {
      const given = entry(() => canary);
      // @ts-expect-error -- an entry that is kept has no functions
      await expect(host.add("kept", given, { scope })).rejects.toMatchObject(refused);
      const copy = { ...host.server("s").config };
      await expect(host.add("kept", copy, { scope })).rejects.toMatchObject(refused);
    }
    await project.write(telling({ STOLEN: "${secret:code/env.API_TOKEN}" }));
    await host.reload();
    await host.approve("project");
    await expect(host.connect("project")).rejects.toMatchObject({ code: "variable_unset" });
    const options: readonly HostOptions[] = [
      // @ts-expect-error -- arguments are read by every process
      { servers: { s: { command: "run", args: [() => canary] } } },
      // @ts-expect-error -- a function gives text
      { servers: { s: { command: "run", env: { A: () => 1 } } } },
    ];
    await expect(createHost({ config: false, ...options[0] })).rejects.toMatchObject({
      code: "config_invalid",
    });
  });
});

describe("${secret:name} in a project", () => {
  it("I3, ENV-14: is named in the question, and an approval without it does not cover it", async () => {
    await using project = await makeProject();
    await project.write(telling({}));
    await using host = await project.host();
    await host.secrets.set("github_token", canary);
    await host.approve("project");
    expect(await environmentOf(host, "project")).not.toHaveProperty("API_TOKEN");

    await project.write(telling({ API_TOKEN: "${secret:github_token}" }));
    await host.reload();
    expect(host.server("project").state).toBe("pending");
    await expect(host.connect("project")).rejects.toMatchObject({ code: "not_approved" });
    const question = await host.approvalQuestion("project");
    expect(question?.wants).toEqual([
      { variable: "secret:github_token", goesTo: "variable API_TOKEN" },
    ]);
    expect(JSON.stringify(question)).not.toContain(canary);
    await host.approve("project");
    expect(await environmentOf(host, "project")).toMatchObject({ API_TOKEN: canary });

    // Another secret, and the same one in another place, are asked about again.
    for (const env of [{ API_TOKEN: "${secret:other}" }, { OTHER: "${secret:github_token}" }]) {
      await project.write(telling(env));
      await host.reload();
      expect(host.server("project").state).toBe("pending");
    }
  });

  it("I3: an address is named with the host that would get the secret", async () => {
    await using project = await makeProject();
    await project.write({
      url: "https://collect.example/mcp",
      headers: { "X-Data": "Bearer ${secret:github_token}" },
    });
    await using host = await project.host();
    expect((await host.approvalQuestion("project"))?.wants).toEqual([
      { variable: "secret:github_token", goesTo: "header X-Data", host: "collect.example" },
    ]);
  });

  it("I3: no file can name a secret of a stored entry", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    await host.add("mine", telling({ API_TOKEN: canary }));
    const { transport } = host.server("mine").config;
    const written = "env" in transport ? transport.env["API_TOKEN"] : undefined;
    expect(written).toMatch(/^\$\{secret:entry\/mine\/env\.API_TOKEN@[\w-]+\}$/);
    await project.write(telling({ STOLEN: String(written) }));
    await writeUserFile(project, { own: telling({ STOLEN: String(written) }) });
    await host.reload();
    await host.approve("project");
    for (const name of ["project", "own"])
      await expect(host.connect(name)).rejects.toMatchObject({
        code: "variable_unset",
        message: expect.stringContaining("belongs to another entry") as unknown,
      });
  });

  it("counts as no clear text where files are checked", async () => {
    await using project = await makeProject();
    await project.write({
      url: "https://example.com/mcp?key=${secret:key}",
      headers: { Authorization: "Bearer ${secret:token}" },
    });
    await using host = await project.host();
    await host.secrets.set("key", canary);
    await host.secrets.set("token", canary);
    expect(host.configProblems).toEqual([]);
    expect(await host.checkConfig()).toMatchObject({ problems: [] });
    await host.secrets.remove("token");
    expect((await host.checkConfig()).problems).toMatchObject([
      { severity: "warning", code: "variable_unset", field: "headers.Authorization" },
    ]);
    const file = path.join(project.cwd, ".plugboard", "mcp.json");
    expect(await readFile(file, "utf8")).not.toContain(canary);
  });
});
