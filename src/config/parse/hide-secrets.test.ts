import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { launchFacts } from "../../approval/launch-facts.ts";
import { revealAll, SecretText } from "../../text/secrets/secret-text.ts";
import type { McpServerConfig } from "../keys/config-keys.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { resolveServer } from "./expand-variables.ts";
import { hideArguments } from "./hide-secrets.ts";
import { parseConfig, parseServerEntry } from "./parse-config.ts";

const canary = /canary/;
const entries: readonly McpServerConfig[] = [
  {
    name: "local",
    command: "run",
    args: ["--token", "canary-arg-1", "--api-key", "canary-arg-2", "--api-key=canary-arg-3", "-v"],
    env: { TOKEN: "canary-env", DEBUG: "canary-debug", REF: "${TOKEN}" },
  },
  { name: "list", command: ["run", "--password", "canary-list"] },
  {
    name: "remote",
    url: "https://h.example/mcp?key=canary-key&page=2",
    headers: { "X-Key": "canary-header", Authorization: "Bearer ${TOKEN}" },
  },
  {
    name: "sse",
    transport: "sse",
    url: "https://h.example/sse?subscription-key=canary-key",
    messageEndpoint: "/message?key=canary-endpoint",
    auth: { type: "bearer", token: "canary-token" },
  },
  {
    name: "oauth",
    url: "https://h.example/",
    auth: {
      type: "oauth",
      clientId: "agent",
      clientSecret: "canary-client",
      privateKey: "canary\nprivate",
    },
  },
];

function servers(): readonly ServerConfig[] {
  const parsed = parseConfig(entries);
  expect(parsed.servers).toHaveLength(entries.length);
  return parsed.servers;
}

/** Every way in which an object is printed without anyone asking for its secrets. */
function printed(value: object): string {
  const copy: unknown = { ...value };
  return [
    inspect(value, { depth: 9, showHidden: true }),
    inspect(copy, { depth: 9 }),
    JSON.stringify(value),
    JSON.stringify(copy),
    JSON.stringify(Object.values(value).map((item: unknown) => ({ ...(item as object) }))),
  ].join("\n");
}

describe("secrets of a configuration", () => {
  it("ENV-12 CFG-46: no way of printing shows one", () => {
    for (const config of servers()) expect(printed(config)).not.toMatch(canary);
    expect(printed(servers())).not.toMatch(canary);
  });

  it("ENV-12: what is no secret stays readable", () => {
    const [local, , remote] = servers();
    expect(local?.transport).toMatchObject({ command: "run", env: { REF: "${TOKEN}" } });
    expect(JSON.parse(JSON.stringify(local))).toEqual({
      name: "local",
      command: "run",
      args: ["--token", "[redacted]", "--api-key", "[redacted]", "--api-key=[redacted]", "-v"],
      env: { TOKEN: "[redacted]", DEBUG: "[redacted]", REF: "${TOKEN}" },
    });
    expect(JSON.parse(JSON.stringify(remote))).toMatchObject({
      url: "https://h.example/mcp?key=[redacted]&page=2",
    });
  });

  it("ENV-12: facts of a launch, which are stored, hold none", () => {
    for (const config of servers()) expect(JSON.stringify(launchFacts(config))).not.toMatch(canary);
  });

  it("reads a configuration that is handed back, whole or in parts", () => {
    for (const config of servers()) {
      const expected = revealAll(config);
      const copy = { ...config };
      expect(revealAll(parseConfig([config]).servers)).toEqual([expected]);
      expect(revealAll(parseConfig([copy]).servers)).toEqual([expected]);
      expect(
        revealAll(parseServerEntry(config.name, { ...copy, transport: { ...config.transport } })),
      ).toEqual(expected);
    }
  });

  it("keeps secret what code says is one", () => {
    const config = parseServerEntry("s", {
      command: "run",
      args: ["-p", new SecretText("canary-word")],
      env: { PLAIN: new SecretText("canary-env"), REF: new SecretText("${VAR}") },
    });
    expect(printed(config)).not.toMatch(canary);
    expect(config.transport).toMatchObject({ env: { REF: "${VAR}" } });
    const remote = parseServerEntry("r", { url: new SecretText("https://h.example/canary-path") });
    expect(printed(remote)).not.toMatch(canary);
    expect(resolveServer(remote, {}).transport).toMatchObject({
      url: "https://h.example/canary-path",
    });
  });

  it("refuses a mask where the secret should be", () => {
    for (const config of servers()) {
      // An argument has no place to be left out of: it is read as it was printed.
      if (config.name === "list") continue;
      const { servers: read, problems } = parseConfig([JSON.parse(JSON.stringify(config))]);
      expect(read).toEqual([]);
      expect(problems).toMatchObject([
        { code: "config_invalid", message: expect.stringContaining("is the mask of a secret") },
      ]);
    }
  });

  it("refuses a structured clone, which has lost the secrets", () => {
    const [config] = servers();
    const clone = structuredClone({ ...config });
    expect(parseConfig([clone]).problems).toMatchObject([
      { severity: "error" },
      { severity: "error" },
      { severity: "error" },
      { severity: "error" },
      { severity: "error" },
    ]);
  });
});

describe("arguments", () => {
  /** Positions of those that are hidden. */
  const findHidden = (args: readonly string[]): readonly number[] =>
    hideArguments(args).flatMap((arg, index) => (SecretText.is(arg) ? [index] : []));

  it.each([
    "--apikey",
    "--api-key",
    "--api_key",
    "--token",
    "-token",
    "--github-token",
    "--secret",
    "--client_secret",
    "--password",
    "--passwd",
    "--TOKEN",
  ])("CFG-37: what follows %s is a credential", (option) => {
    expect(findHidden(["run", option, "abc", "def"])).toEqual([2]);
    // The option stands alone, or its value is a variable.
    expect(findHidden([option, "--verbose"])).toEqual([]);
    expect(findHidden([option, "${MINE}"])).toEqual([]);
  });

  it("CFG-37: what follows any other word is not", () => {
    expect(findHidden(["--tokens", "abc", "token", "abc", "--port", "8080"])).toEqual([]);
  });
});

describe("secrets to look for in what a server writes", () => {
  it("ENV-12: arguments and queries count, and each line of a long one", () => {
    const secretsOf = (entry: unknown): readonly string[] =>
      resolveServer(parseServerEntry("s", entry), { TOKEN: "from-outside" }).secrets;
    expect(secretsOf(entries[0])).toEqual(
      expect.arrayContaining(["canary-arg-1", "canary-arg-2", "canary-arg-3"]),
    );
    expect(secretsOf(entries[2])).toContain("canary-key");
    const key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nshort\n-----END KEY-----";
    const lines = secretsOf({ command: "run", env: { PRIVATE_KEY: key } });
    expect(lines).toContain("MIIEvQIBADANBg");
    expect(lines).not.toContain("short");
  });

  it("tells a credential from a setting, which may be part of any name", () => {
    const env = { API_TOKEN: "canary-77", PROJECT: "my-project", AUTH_METHOD: "password" };
    const { secrets, credentials } = resolveServer(
      parseServerEntry("s", { command: "x", env }),
      {},
    );
    expect(secrets).toEqual(expect.arrayContaining(Object.values(env)));
    expect(credentials).toEqual(["canary-77"]);
  });
});
