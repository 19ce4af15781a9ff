import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { revealAll } from "../../text/secrets/secret-text.ts";
import { slug } from "../../text/slug.ts";
import { entrySpellings } from "../keys/config-keys.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { escapeTemplate } from "../variables/variable-reference.ts";
import { expandVariables, resolveServer } from "./expand-variables.ts";
import { parseConfig, parseServerEntry } from "./parse-config.ts";
import { toJson } from "./to-json.ts";

const entryKey = fc.constantFrom(...entrySpellings.keys());
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("stdio", "http", "run", "https://h.example/x", true, false, 3, ["a"], { A: "b" }),
);
/** Objects whose keys mean something, so that most paths of the parser are reached. */
const rawEntry = fc.dictionary(fc.oneof(entryKey, fc.string()), value, { maxKeys: 6 });
const anyConfig = fc.oneof(
  fc.jsonValue(),
  fc.record({ servers: fc.oneof(fc.dictionary(fc.string(), rawEntry), fc.array(rawEntry), value) }),
  fc.record({ mcpServers: fc.dictionary(fc.string(), rawEntry), defaults: rawEntry }),
  fc.array(rawEntry),
);

const goodEntry = fc.oneof(
  fc.record(
    {
      command: fc.constantFrom("run", "./bin/server", "D:/x.exe"),
      args: fc.array(fc.string().filter((text) => !text.includes("\0"))),
      env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), fc.stringMatching(/^[ -~]*$/)),
      cwd: fc.constantFrom("/srv", "sub"),
      timeout: fc.integer({ min: 0, max: 3_600 }),
      enabled: fc.boolean(),
      enabledTools: fc.array(fc.string().filter((text) => !text.includes("\0"))),
      isolation: fc.constantFrom({}, { sandbox: true }, { network: { domains: ["h"] } }),
    },
    { requiredKeys: ["command"] },
  ),
  fc.record(
    {
      url: fc.webUrl({ withQueryParameters: true }),
      transport: fc.constantFrom("http", "sse", "rest", "streamable-http"),
      headers: fc.dictionary(fc.stringMatching(/^X-[A-Z]{1,5}$/), fc.stringMatching(/^[ -~]*$/)),
      callTimeoutMs: fc.integer({ min: 0, max: 1e6 }),
      auth: fc.constantFrom("oauth", { type: "bearer", token: "${TOKEN}" }, "none"),
    },
    { requiredKeys: ["url"] },
  ),
);

describe("any input", () => {
  it("CFG-44: parseConfig never throws, and reports every entry that it leaves out", () => {
    fc.assert(
      fc.property(anyConfig, (input) => {
        const { servers, problems } = parseConfig(input);
        for (const server of servers) expect(Object.isFrozen(server)).toBe(true);
        if (Array.isArray(input) && servers.length < input.length)
          expect(problems.some((problem) => problem.severity === "error")).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("CFG-40 CFG-44: a good entry is kept, whatever stands beside it", () => {
    const name = fc.stringMatching(/^good-[a-z]{1,8}$/);
    fc.assert(
      fc.property(
        name,
        goodEntry,
        fc.dictionary(fc.string(), fc.oneof(rawEntry, value)),
        (own, entry, others) => {
          const beside = Object.entries(others).filter(([other]) => slug(other) !== own);
          // A prefix of another server is the one thing that may push a good entry aside.
          fc.pre(!JSON.stringify(beside).includes("refix"));
          const input = { servers: Object.fromEntries([...beside, [own, entry]]) };
          const { servers } = parseConfig(input);
          const kept = servers.find((server) => server.name === own);
          expect(kept).toEqual(parseServerEntry(own, entry));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("CFG-46: writing and reading gives the same server", () => {
    fc.assert(
      fc.property(goodEntry, (entry) => {
        const config = parseServerEntry("s", entry, { baseDir: "/project" });
        const written = JSON.parse(JSON.stringify(toJson(config, { secrets: "keep" }))) as unknown;
        const read = parseConfig(written).servers;
        expect(revealAll(read)).toEqual([revealAll(config)]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("expansion", () => {
  it("ENV-08 ENV-10: escaped text expands to itself", () => {
    const text = fc.array(fc.constantFrom("$", "{", "}", "${", "$${", "A", ":-", "${A}"));
    fc.assert(
      fc.property(text, (parts) => {
        const original = parts.join("");
        const expansion = expandVariables(escapeTemplate(original), { A: "value" });
        expect(expansion).toEqual({ ok: true, text: original, used: [] });
      }),
      { numRuns: 500 },
    );
  });

  it("ENV-07: a value arrives as it is, `$` and braces included, between the texts around it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, inner, after) => {
        const template = `${escapeTemplate(before)}\u0020\${NAME}${escapeTemplate(after)}`;
        const expansion = expandVariables(template, { NAME: inner });
        expect(expansion).toMatchObject({ ok: true, text: `${before} ${inner}${after}` });
      }),
    );
  });

  it("ENV-08: an entry without references resolves to itself", () => {
    fc.assert(
      fc.property(goodEntry, (entry) => {
        const config: ServerConfig = parseServerEntry("s", entry);
        fc.pre(!JSON.stringify(revealAll(config)).includes("${"));
        expect(resolveServer(config, {}).transport).toEqual(revealAll(config.transport));
      }),
    );
  });
});
