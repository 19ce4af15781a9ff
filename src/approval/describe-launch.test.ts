import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { AddressTarget, ProcessTarget } from "../human/launch-question.ts";
import { describeLaunch, type LaunchSurroundings } from "./describe-launch.ts";
import { describeTarget } from "./describe-target.ts";
import { launchFacts, launchIdOf, type LaunchPlace } from "./launch-facts.ts";

const provenance = { layer: "project", path: "/project/.mcp.json", line: 3 } as const;
// Put together here, so that no scanner takes this file for a leak.
const secret = ["ghp", "abcdefghijABCDEFGHIJ"].join("_");

/** What a person is asked about an entry of a project. */
function ask(
  entry: unknown,
  surroundings: Partial<LaunchSurroundings> = {},
  place: LaunchPlace = { commandPath: "/bin/run", folder: "/project" },
) {
  const config = parseServerEntry("s", entry, { provenance });
  const facts = launchFacts(config, place);
  const launch = { facts, launchId: launchIdOf(facts) };
  const nothing = { hostEnv: {}, earlier: [], replaced: undefined };
  return describeLaunch(config, launch, { ...nothing, ...surroundings });
}

describe("the question about a process", () => {
  it("I1, L4: holds all that would be started, and nothing more for a plain entry", async () => {
    const question = await ask({ command: "run", args: ["a b", "-x"], env: { MODE: "fast" } });
    expect(question).toStrictEqual({
      serverName: "s",
      origin: { layer: "project", path: "/project/.mcp.json", line: 3 },
      launchId: expect.stringMatching(/^[0-9a-f]{64}$/),
      target: {
        kind: "process",
        commandLine: 'run "a b" -x',
        file: { status: "found", path: "/bin/run" },
        folder: "/project",
        env: [{ name: "MODE", value: "fast", changesExecution: false }],
        envPassthrough: [],
        inheritEnv: "safe",
      },
      details: [],
      wants: [],
      packages: [],
    });
  });

  it("L4: masks no argument, and of variables only what looks secret and changes no execution", async () => {
    const env = { API_TOKEN: "abcdef123456", NODE_OPTIONS: `--require ${secret}`, REF: "${KEY}" };
    const { target } = await ask({ command: "run", args: [`--token=${secret}`], env });
    const { commandLine, env: shown } = target as ProcessTarget;
    expect(commandLine).toBe(`run --token=${secret}`);
    expect(shown).toStrictEqual([
      { name: "API_TOKEN", changesExecution: false },
      { name: "NODE_OPTIONS", value: `--require ${secret}`, changesExecution: true },
      { name: "REF", value: "${KEY}", changesExecution: false },
    ]);
  });

  it("D8: writes what could not be seen as an escape, wherever it stands", async () => {
    const [hidden, escaped] = ["x\u202Ey", String.raw`x\u202ey`];
    const config = parseServerEntry(
      "s",
      { command: hidden, env: { [hidden]: hidden }, envPassthrough: [hidden], toolPrefix: "p" },
      { provenance: { layer: "project", path: `/${hidden}` } },
    );
    const facts = launchFacts(config, { commandPath: `/${hidden}`, folder: `/${hidden}` });
    const launch = { facts: { ...facts, [`z${hidden}`]: hidden }, launchId: launchIdOf(facts) };
    const replaced = parseServerEntry("s", { command: "old" }, { provenance: { layer: "user" } });
    const { origin, target, details, replaces } = await describeLaunch(config, launch, {
      hostEnv: {},
      earlier: [],
      replaced,
    });
    expect(origin).toStrictEqual({ layer: "project", path: `/${escaped}` });
    expect(target).toMatchObject({
      commandLine: `"${escaped}"`,
      file: { path: `/${escaped}` },
      folder: `/${escaped}`,
      env: [{ name: escaped, value: escaped }],
      envPassthrough: [escaped],
    });
    expect(details).toEqual([
      { name: "toolPrefix", value: "p" },
      { name: `z${escaped}`, value: escaped },
    ]);
    expect(replaces).toStrictEqual({ origin: { layer: "user" }, target: "old" });
  });

  it("says where the file was not found, and where nobody has looked", async () => {
    for (const status of ["not found", "not looked up"]) {
      const { target } = await ask({ command: "run" }, {}, { commandPath: status });
      expect(target).toMatchObject({ file: { status }, folder: "" });
    }
  });

  it("names every setting that a plain entry does not have, without secrets", async () => {
    const { details } = await ask({
      command: "run",
      expandArgs: true,
      isolation: { sandbox: true },
      toolPrefix: "p",
      disabledTools: ["b", "a"],
      skipReadOnlyPrompts: true,
    });
    expect(details).toEqual([
      { name: "expandArgs", value: "true" },
      { name: "isolation", value: "on" },
      { name: "isolation.sandbox", value: "true" },
      { name: "skipReadOnlyPrompts", value: "true" },
      { name: "toolPrefix", value: "p" },
      { name: "disabledTools", value: '["a","b"]' },
    ]);
  });

  it("I1: says which variables of the person would be handed over, and where", async () => {
    const { wants } = await ask({
      command: "run",
      args: ["x", "${FIRST}"],
      env: { TOKEN: "${SECOND}" },
      expandArgs: true,
    });
    expect(wants).toStrictEqual([
      { variable: "FIRST", goesTo: "argument 2" },
      { variable: "SECOND", goesTo: "variable TOKEN" },
    ]);
  });

  it("I4: says what would be fetched, which release is here, and what its name resembles", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "npm-cache-"));
    const folder = path.join(root, "_npx", "a", "node_modules", "mcp-rem0te");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "package.json"), '{"version":"1.2.3"}');
    const hostEnv = { npm_config_cache: root };
    const packagesOf = async (...args: string[]) =>
      (await ask({ command: "npx", args }, { hostEnv })).packages;
    expect(await packagesOf("mcp-rem0te")).toStrictEqual([
      {
        spec: "mcp-rem0te",
        isPinned: false,
        pinnedSpec: "mcp-rem0te@1.2.3",
        resembles: "mcp-remote",
      },
    ]);
    expect(await packagesOf("mcp-rem0te@2.0.0")).toStrictEqual([
      { spec: "mcp-rem0te@2.0.0", isPinned: true, resembles: "mcp-remote" },
    ]);
    expect(await packagesOf("unheard-of")).toStrictEqual([{ spec: "unheard-of", isPinned: false }]);
    expect(await packagesOf("--strange", "x")).toBe("unclear");
    const python = await ask({ command: "uvx", args: ["mcp-rem0te"] }, { hostEnv });
    expect(python.packages).toStrictEqual([{ spec: "mcp-rem0te", isPinned: false }]);
    await rm(root, { recursive: true });
  });
});

describe("the question about an address", () => {
  const addressOf = async (url: string) => ((await ask({ url })).target as AddressTarget).url;

  it("I1: shows the host as it is looked up, and no credential", async () => {
    const { target } = await ask({
      url: "https://H.example:443/a?key=abcd1234",
      headers: { "X-Plain": "v", "X-Other": "w" },
    });
    expect(target).toMatchObject({
      kind: "address",
      transport: "http",
      url: "https://h.example/a?key=[redacted]",
      headers: ["X-Plain", "X-Other"],
    });
    expect(await addressOf("https://${HOST}:8443/a")).toBe("https://${HOST}:8443/a");
    expect(await addressOf("https://h.example")).toBe("https://h.example");
    expect(await addressOf("https://h.example/a\u202Eb")).toContain(String.raw`\u202e`);
  });

  it("I1: says to which host a variable of the person would be sent", async () => {
    const { wants, packages } = await ask({
      url: "https://h.example/a?x=${QUERY}",
      headers: { Authorization: "Bearer ${TOKEN}" },
    });
    expect(wants).toStrictEqual([
      { variable: "QUERY", goesTo: "address", host: "h.example" },
      { variable: "TOKEN", goesTo: "header Authorization", host: "h.example" },
    ]);
    expect(packages).toEqual([]);
  });

  it("I1: secrets of a client go to where tokens come from, which is not known where the server chooses", async () => {
    const wantsOf = async (auth: object) =>
      (await ask({ url: "https://h.example/", auth: { type: "oauth", clientId: "c", ...auth } }))
        .wants;
    const clientSecret = "${SECRET}";
    const goesTo = "auth.clientSecret";
    expect(await wantsOf({ clientSecret, tokenUrl: "https://idp.example/t" })).toStrictEqual([
      { variable: "SECRET", goesTo, host: "idp.example" },
    ]);
    expect(await wantsOf({ clientSecret })).toStrictEqual([{ variable: "SECRET", goesTo }]);
  });

  it("names its sign-in without the secret of it", async () => {
    const { details } = await ask({
      url: "https://h.example/",
      auth: { type: "bearer", token: "abcdef123456" },
    });
    expect(details).toEqual([
      { name: "auth.type", value: "bearer" },
      { name: "auth.token", value: "(not shown)" },
    ]);
  });
});

describe("how a launch differs from the one that was approved", () => {
  const approvalOf = (
    entry: unknown,
    approvedAt = 1,
    place: LaunchPlace = { commandPath: "/bin/run", folder: "/project" },
  ) => {
    const facts = launchFacts(parseServerEntry("s", entry, { provenance }), place);
    return { launchId: launchIdOf(facts), serverName: "s", facts, approvedAt, approvedBy: "cli" };
  };
  const differenceOf = async (now: unknown, ...earlier: ReturnType<typeof approvalOf>[]) =>
    (await ask(now, { earlier })).difference;

  it("PRM-21: is told with the old and the new value, and only what is new or gone without", async () => {
    const before = approvalOf({ command: "run", args: ["a", "b c"], toolPrefix: "p" });
    const now = { command: "run", args: ["a", "d"], disabledTools: ["x"] };
    expect(await differenceOf(now, before)).toStrictEqual({
      approvedAt: 1,
      changes: [
        { name: "toolPrefix", was: "p" },
        { name: "arguments", was: 'a "b c"', is: "a d" },
        { name: "disabledTools", is: '["x"]' },
      ],
    });
    expect(await differenceOf(now)).toBeUndefined();
  });

  it("PRM-21: names the file and the folder that have changed, and not where the entry leaves the folder to the host", async () => {
    const before = approvalOf({ command: "run", cwd: "/old" }, 1, {
      commandPath: "/bin/old",
      folder: "/old",
    });
    expect(await differenceOf({ command: "run" }, before)).toStrictEqual({
      approvedAt: 1,
      changes: [
        { name: "file", was: "/bin/old", is: "/bin/run" },
        { name: "folder", was: "/old", is: "/project" },
      ],
    });
  });

  it("PRM-21: shows a variable's value where the question does, and hides it where it does not", async () => {
    const entry = (env: object) => ({ command: "run", env });
    const before = approvalOf(entry({ MODE: "slow", API_TOKEN: "abcdef123456" }));
    expect(
      await differenceOf(entry({ MODE: "fast", API_TOKEN: "fedcba654321" }), before),
    ).toMatchObject({
      changes: [
        { name: "env.API_TOKEN", was: "(not shown)", is: "(another value, not shown)" },
        { name: "env.MODE", was: "(not shown)", is: "fast" },
      ],
    });
    const secretArgument = (args: string[]) => ({ command: "run", args });
    expect(
      await differenceOf(
        secretArgument(["x", `--token=${secret}`]),
        approvalOf(secretArgument(["x", `--token=${secret}1`])),
      ),
    ).toMatchObject({
      changes: [{ name: "arguments", was: "x (not shown)", is: "(another value, not shown)" }],
    });
  });

  it("is told from the most similar approval, the newest of several", async () => {
    const now = { command: "run", args: ["a", "b", "c"] };
    const near = approvalOf({ command: "run", args: ["a", "b", "x"] }, 2);
    const far = approvalOf({ command: "other", args: ["y"] }, 3);
    const older = approvalOf({ command: "run", args: ["a", "b", "z"] }, 1);
    expect(await differenceOf(now, far, near, older)).toMatchObject({
      approvedAt: 2,
      changes: [{ name: "arguments", was: "a b x", is: "a b c" }],
    });
  });

  it("counts arguments as numbers: the tenth comes after the second", async () => {
    const words = Array.from({ length: 11 }, (_, index) => `w${index}`);
    const difference = await differenceOf(
      { command: "run", args: [...words, "new"] },
      approvalOf({ command: "run", args: words }),
    );
    expect(difference?.changes).toEqual([
      { name: "arguments", was: words.join(" "), is: [...words, "new"].join(" ") },
    ]);
  });
});

describe("what a server is, in one line", () => {
  it.each<[unknown, string]>([
    [{ command: "run", args: ["-x", "a"] }, "run -x a"],
    [{ command: "run", args: [`--token=${secret}`] }, "run --token=[redacted]"],
    [{ command: "r\u202Eun" }, "r\uFFFDun"],
    [{ url: "https://h.example/a?key=abcd1234" }, "https://h.example/a?key=[redacted]"],
    [{ url: "https://h.example/s", transport: "sse" }, "https://h.example/s"],
  ])("%j", (entry, line) => {
    const config = parseServerEntry("s", entry);
    expect(describeTarget(config)).toBe(line);
    expect(describeTarget(config)).toBe(line);
  });

  it("says where one comes from the program, and nothing where there is none", () => {
    const config = parseServerEntry("s", { command: "run" });
    const ofKind = (kind: string) => ({ ...config, transport: { kind } }) as typeof config;
    expect(describeTarget(ofKind("memory"))).toBe("given in code");
    expect(describeTarget(ofKind("none"))).toBe("");
  });
});
