import { describe, expect, it } from "vitest";

import { resolveServer } from "../../config/parse/expand-variables.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { secretUses } from "../../config/variables/reference-uses.ts";
import { otherReferences } from "../../config/variables/reference-values.ts";
import { withoutEditions } from "../../config/variables/secret-names.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
import { findSecrets } from "../files/entry-secrets.ts";
import { EntryVault } from "./entry-vault.ts";

class MapVault implements SecretVault {
  readonly values = new Map<string, string>();
  /** Writes that succeed before one fails. */
  writable = Infinity;

  async read(name: string): Promise<string | undefined> {
    return this.values.get(name);
  }
  async write(name: string, value: string): Promise<void> {
    if (this.writable === 0) throw new Error("the disk is full");
    this.writable -= 1;
    this.values.set(name, value);
  }
  async remove(name: string): Promise<boolean> {
    return this.values.delete(name);
  }
  async names(prefix: string): Promise<readonly string[]> {
    return [...this.values.keys()].filter((name) => name.startsWith(prefix)).toSorted();
  }
}

const env = { REGION: "north", SET: "value-of-set" };
const folders = { workspaceFolder: "/work", home: "/home/ada" };

/** What a server with this entry would be started with. */
function startOf(entry: object, values: ReadonlyMap<string, string> = new Map()): unknown {
  const config = parseServerEntry("s", entry, { provenance: { layer: "store" } });
  const names = [...secretUses(config).keys()];
  const secrets = new Map(names.map((name) => [name, new SecretText(values.get(name) ?? "")]));
  const others = { folders, inputs: new Map<string, SecretText>(), secrets, envFile: {} };
  const { transport, auth } = resolveServer(config, { ...env, [otherReferences]: others });
  return { transport: { ...transport, expandArgs: undefined }, auth };
}

const canary = "canary-1234567890";
const url = "https://example.com/mcp";

describe("the secrets of a stored entry", () => {
  it.each<[string, object]>([
    ["a variable", { command: "run", env: { API_KEY: canary, MODE: "fast" } }],
    ["text that looks like a reference", { command: "run", env: { API_KEY: `${canary}$\${x}$` } }],
    ["a default", { command: "run", env: { API_KEY: `\${UNSET:-${canary}}` } }],
    ["a default that is not used", { command: "run", env: { API_KEY: `\${SET:-${canary}}` } }],
    ["text around a reference", { command: "run", env: { API_KEY: `${canary}-\${REGION}:x9` } }],
    ["several lines", { command: "run", env: { KEY: `-----BEGIN\n${canary}\n-----END` } }],
    ["a name of odd characters", { command: "run", env: { "API {KEY} }/@ü": canary } }],
    ["a header", { url, headers: { Authorization: `Bearer ${canary}`, "X-Team": "core" } }],
    ["a cookie", { url, headers: { Cookie: `session=${canary}; theme=dark` } }],
    ["a token", { url, auth: { type: "bearer", token: canary } }],
    ["a client", { url, auth: { type: "oauth", clientId: "c", clientSecret: canary } }],
    ["an address", { url: `${url}?api_key=${canary}&region=\${REGION}` }],
    ["an address by another name", { serverUrl: `${url}?api_key=${canary}` }],
    ["where messages go", { transport: "sse", url, messageEndpoint: `${url}?api_key=${canary}` }],
    [
      "arguments",
      { command: "run", args: ["--token", canary, "${REGION}", `--api-key=${canary}`] },
    ],
    [
      "arguments in which variables are replaced",
      { command: "run", args: ["--token", canary, "${REGION}"], expandArgs: true },
    ],
    ["a command with its arguments", { command: ["run", "--token", canary, "${REGION}"] }],
    [
      "an object transport",
      {
        transport: {
          kind: "stdio",
          command: "run",
          args: ["--token", canary],
          env: { K_TOKEN: canary },
        },
      },
    ],
  ])(
    "STO-09: %s: nothing is left of them, and the server gets what it got",
    async (_what, entry) => {
      const vault = new MapVault();
      const entries = new EntryVault(vault);
      const sealed = await entries.seal("s", { ...entry });
      expect(vault.values.size).toBe(0);
      await entries.write(sealed);
      expect(JSON.stringify(sealed.entry)).not.toContain("canary");
      expect(findSecrets(sealed.entry)).toEqual([]);
      expect(
        [...vault.values.keys()].every((name) => /^entry\/s\/[^{}\s]+@[\w-]{12}$/.test(name)),
      ).toBe(true);
      expect(startOf(sealed.entry, vault.values)).toEqual(startOf(entry));
      // What is sealed stays as it is.
      expect(await entries.seal("s", sealed.entry)).toMatchObject({
        entry: sealed.entry,
        notes: [],
      });
    },
  );

  it("references and plain settings stay in the entry", async () => {
    const entries = new EntryVault(new MapVault());
    const entry = {
      command: "run",
      args: ["-v", "${REGION}"],
      env: { TOKEN: "${TOKEN}", OTHER_TOKEN: "Bearer ${secret:mine}", MODE: "fast" },
    };
    expect(await entries.seal("s", entry)).toEqual({ entry, values: new Map(), notes: [] });
  });

  it("a new value replaces the old one, and what an entry still refers to stays", async () => {
    const vault = new MapVault();
    const entries = new EntryVault(vault);
    const first = await entries.seal("s", {
      command: "run",
      env: { A_KEY: canary, B_KEY: canary },
    });
    await entries.write(first);
    const { A_KEY } = first.entry["env"] as Record<string, string>;
    const second = await entries.seal("s", {
      command: "run",
      env: { A_KEY, B_KEY: "another-one" },
    });
    await entries.write(second);
    expect(vault.values.size).toBe(3);
    await entries.release("s", first.entry, second.entry);
    expect([...vault.values.values()].toSorted()).toEqual(["another-one", canary]);
    await entries.forget("s");
    expect(vault.values.size).toBe(0);
  });

  it("what is for another entry is copied, and never taken away from it", async () => {
    const vault = new MapVault();
    const entries = new EntryVault(vault);
    const first = await entries.seal("one", { command: "run", env: { A_KEY: canary } });
    await entries.write(first);
    const copy = await entries.seal("two", first.entry);
    await entries.write(copy);
    expect(withoutEditions(JSON.stringify(copy.entry))).toContain("${secret:entry/two/env.A_KEY}");
    await entries.release("two", first.entry, copy.entry);
    await entries.forget("two");
    expect([...vault.values.values()]).toEqual([canary]);
    // One whose name begins alike is another one.
    await entries.forget("on");
    expect(vault.values.size).toBe(1);
  });

  it("of secrets that cannot all be written, none is left", async () => {
    const vault = new MapVault();
    vault.writable = 1;
    const entries = new EntryVault(vault);
    const sealed = await entries.seal("s", {
      command: "run",
      env: { A_KEY: canary, B_KEY: canary },
    });
    await expect(entries.write(sealed)).rejects.toThrow("the disk is full");
    expect(vault.values.size).toBe(0);
  });

  it("an entry is alike when its secrets are, too", async () => {
    const vault = new MapVault();
    const entries = new EntryVault(vault);
    const entry = (key: string): object => ({ command: "run", env: { A_KEY: key } });
    const stored = await entries.seal("s", { ...entry(canary) });
    await entries.write(stored);
    expect(await entries.isAlike(stored.entry, await entries.seal("s", { ...entry(canary) }))).toBe(
      true,
    );
    expect(
      await entries.isAlike(stored.entry, await entries.seal("s", { ...entry("other-key") })),
    ).toBe(false);
  });
});
