import { describe, expect, it } from "vitest";

import type { ConsentId, EntryId } from "../config/keys/server-ids.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { GrantSubject } from "../grants/consent-subject.ts";
import type { Approval } from "../store/rows/approval-rows.ts";
import {
  consentIdOf,
  coveredName,
  entryIdOf,
  type LaunchFacts,
  launchFacts,
  launchIdOf,
} from "./launch-facts.ts";

const identify = (entry: unknown, name = "s"): EntryId =>
  entryIdOf(launchFacts(parseServerEntry(name, entry)));

describe("ids of a server", () => {
  const stdio = { command: "run", args: ["a", "b"], cwd: "/srv", env: { A: "1", B: "${X}" } };
  const remote = { url: "https://h.example/x", headers: { A: "1" } };

  it("PRM-21: is the same for the same launch, however it is written", () => {
    const base = identify(stdio);
    expect(identify({ ...stdio, env: { B: "${X}", A: "1" } })).toBe(base);
    expect(identify({ command: ["run", "a", "b"], cwd: "/srv", env: stdio.env })).toBe(base);
    expect(identify({ ...stdio, timeout: 5, disabledTools: [] }, "other")).toBe(base);
    const listed = (enabledTools: readonly string[]) => identify({ ...stdio, enabledTools });
    expect(listed(["x", "y"])).toBe(listed(["y", "x"]));
    const isolation = { limits: { memory: "1M", processes: 2 } };
    const turned = { limits: { processes: 2, memory: "1M" } };
    expect(identify({ ...stdio, isolation })).toBe(identify({ ...stdio, isolation: turned }));
  });

  it.each([
    { command: "run2" },
    { args: ["a"] },
    { args: ["b", "a"] },
    { args: ["a b"] },
    { cwd: "/other" },
    { cwd: null },
    { env: { A: "2", B: "${X}" } },
    { env: { A: "1", B: "${Y}" } },
    { env: { A: "1" } },
    { envPassthrough: ["SECRET"] },
    { inheritEnv: "all" },
    { expandArgs: true },
    { isolation: {} },
    { isolation: { sandbox: true } },
    { skipReadOnlyPrompts: true },
    { naming: "prefix_tool" },
    { toolPrefix: "github" },
    { enabledTools: [] },
    { enabledTools: ["x"] },
    { disabledTools: ["x"] },
  ])("PRM-21: %j asks again for a program", (change) => {
    expect(identify({ ...stdio, ...change })).not.toBe(identify(stdio));
  });

  it.each([
    { url: "https://evil.example/x" },
    { url: "https://h.example/x?token=other" },
    { headers: { A: "2" } },
    { headers: { A: "1", B: "${GITHUB_TOKEN}" } },
    { transport: "sse" },
    { messageEndpoint: "https://evil.example/m" },
    { allowPrivateNetwork: true },
    { auth: { type: "bearer", token: "${GITHUB_TOKEN}" } },
    { auth: { type: "oauth", tokenUrl: "https://evil.example/t" } },
  ])("PRM-21: %j asks again for an address", (change) => {
    expect(identify({ ...remote, ...change })).not.toBe(identify(remote));
  });

  it("PRM-21: two secrets in an address differ although neither is shown", () => {
    const [one, two] = ["canary-1", "canary-2"].map((key) => ({
      url: `https://h/?api_key=${key}`,
    }));
    expect(identify(one)).not.toBe(identify(two));
  });

  it("PRM-21: the file behind the command and the folder count once they are known", () => {
    const config = parseServerEntry("s", { command: "run" });
    const identities = [
      {},
      { commandPath: "/usr/bin/run", folder: "/a" },
      { commandPath: "/tmp/run", folder: "/a" },
      { commandPath: "/usr/bin/run", folder: "/b" },
    ].map((place) => launchIdOf(launchFacts(config, place)));
    expect(new Set(identities).size).toBe(4);
  });

  it("PRM-21: two names of one file are two launches, since a program may ask how it was called", () => {
    const place = { commandPath: "/bin/busybox", folder: "/" };
    const [one, two] = ["ls", "sh"].map((command) =>
      launchIdOf(launchFacts(parseServerEntry("s", { command }), place)),
    );
    expect(one).not.toBe(two);
  });

  it("PRM-21: the entry behind an approval is known from its facts", () => {
    const config = parseServerEntry("s", stdio);
    const facts = launchFacts(config, { commandPath: "/usr/bin/run", folder: "/srv" });
    expect(entryIdOf(facts)).toBe(identify(stdio));
  });

  it("PRM-21: no variable can be named so that another one does not count", () => {
    const env = (value: string) => ({ A: value, "digest of A": "${X}", "A.digest": "${X}" });
    const [one, two] = ["1", "2"].map((value) => identify({ ...stdio, env: env(value) }));
    expect(one).not.toBe(two);
  });

  it("ENV-12 PRM-21: the facts can be stored and compared, and hold no secret", () => {
    const config = parseServerEntry("s", {
      ...stdio,
      args: ["--token", "canary-arg"],
      env: { A: "canary-env", B: "${X}" },
    });
    const facts = launchFacts(config);
    expect(JSON.stringify(facts)).not.toContain("canary");
    expect(facts).toMatchObject({
      command: "run",
      "args.0": "--token",
      "env.B": "${X}",
      "digest of env.A": expect.stringMatching(/^sha256:/),
      "digest of args.1": expect.stringMatching(/^sha256:/),
    });
    expect(coveredName("digest of env.A")).toBe("env.A");
    expect(coveredName("env.B")).toBeUndefined();
  });

  it("PRM-21: to bind a grant or an approval to the id of something else does not compile", () => {
    const facts = launchFacts(parseServerEntry("s", stdio));
    const [entryId, launchId] = [entryIdOf(facts), launchIdOf(facts)];
    const consentId = consentIdOf(facts, { layer: "user" });
    // @ts-expect-error A grant is bound to what is started, not to how its entry is written.
    const ofEntry: GrantSubject["consentId"] = entryId;
    // @ts-expect-error A grant outlives an update that moves the program.
    const ofLaunch: GrantSubject["consentId"] = launchId;
    // @ts-expect-error An approval covers the file behind the command.
    const approved: Approval["launchId"] = consentId;
    // @ts-expect-error Text is no id before one of the functions made it one.
    const text: Approval["launchId"] = "text";
    expect([ofEntry, ofLaunch, approved, text]).toHaveLength(4);
  });

  it("PRM-21: the facts of a program are all that a person approves", () => {
    const config = parseServerEntry("s", {
      ...stdio,
      args: ["a"],
      env: { B: "${X}" },
      envPassthrough: ["Z", "A"],
      isolation: { sandbox: true },
      skipReadOnlyPrompts: true,
      toolPrefix: "p",
      enabledTools: ["y", "x"],
      disabledTools: [],
    });
    const place = { commandPath: "/bin/run", folder: "/srv", workspaceFolder: "/w" };
    expect(launchFacts(config, place)).toStrictEqual({
      kind: "stdio",
      command: "run",
      "args.0": "a",
      cwd: "/srv",
      "env.B": "${X}",
      envPassthrough: '["A","Z"]',
      inheritEnv: "safe",
      expandArgs: "false",
      "auth.type": "none",
      isolation: "on",
      "isolation.sandbox": "true",
      skipReadOnlyPrompts: "true",
      toolPrefix: "p",
      enabledTools: '["x","y"]',
      commandPath: "/bin/run",
      folder: "/srv",
      workspaceFolder: "/w",
    });
  });

  it("PRM-21: where a program lies is part of its launch, and not of its entry or of what consent is bound to", () => {
    const config = parseServerEntry("s", stdio);
    const [bare, placed] = [
      {},
      { commandPath: "/bin/run", folder: "/srv", workspaceFolder: "/w" },
    ].map((place) => launchFacts(config, place));
    const idsOf = (facts: LaunchFacts = {}) => [
      entryIdOf(facts),
      consentIdOf(facts, { layer: "user" }),
    ];
    expect(idsOf(placed)).toEqual(idsOf(bare));
    for (const place of [{ commandPath: "/x" }, { folder: "/x" }, { workspaceFolder: "/x" }])
      expect(launchIdOf(launchFacts(config, place))).not.toBe(launchIdOf(launchFacts(config)));
  });

  it("PRM-21: an address has one fact for what can be shown of it and one for the rest", () => {
    const facts = launchFacts(
      parseServerEntry("s", { ...remote, url: "https://h.example/?token=abcd1234" }),
    );
    expect(facts["url"]).not.toContain("abcd1234");
    expect(facts["digest of url"]).toMatch(/^sha256:[0-9a-f]{32}$/);
    expect(facts["digest of headers.A"]).toMatch(/^sha256:[0-9a-f]{32}$/);
    expect(launchFacts(parseServerEntry("s", remote))).not.toHaveProperty("digest of url");
  });

  it("PRM-21: servers that start nothing are told apart by name", () => {
    const memory = { transport: { kind: "memory" } };
    expect(identify(memory, "a")).not.toBe(identify(memory, "b"));
  });

  it("PRM-21: what tools are called, and which are offered, is no part of what consent is bound to", () => {
    const idOf = (more: object) =>
      consentIdOf(launchFacts(parseServerEntry("s", { ...stdio, ...more })), { layer: "user" });
    expect(idOf({ naming: "prefix_tool", toolPrefix: "p", enabledTools: ["x"] })).toBe(idOf({}));
    expect(idOf({ command: "other" })).not.toBe(idOf({}));
  });

  it("PRM-21: consent to a program of one project is none to that of another with the same entry", () => {
    const inFile = (
      entry: object,
      layer: "project" | "ancestor" | "user",
      path: string,
    ): ConsentId => {
      const config = parseServerEntry("s", entry, { provenance: { layer, path } });
      return consentIdOf(launchFacts(config), config.provenance);
    };
    for (const layer of ["project", "ancestor"] as const) {
      const one = inFile(stdio, layer, "/a/mcp.json");
      expect(one).not.toBe(inFile(stdio, layer, "/b/mcp.json"));
      expect(one).toBe(inFile(stdio, layer, "/a/mcp.json"));
    }
    // The same address is the same server, and what the user wrote is theirs wherever it is.
    expect(inFile(remote, "project", "/a/mcp.json")).toBe(inFile(remote, "project", "/b/mcp.json"));
    expect(inFile(stdio, "user", "/a/mcp.json")).toBe(inFile(stdio, "user", "/b/mcp.json"));
  });
});
