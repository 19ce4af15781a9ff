import { setImmediate as nextTurn } from "node:timers/promises";

import { describe, expect, it, vi } from "vitest";

import { scriptedRegistry } from "../../tests/fixtures/connection/scripted-registry.ts";
import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { EventBus } from "../events/event-bus.ts";
import { fingerprintOf, isFingerprinted } from "../pins/tool-fingerprint.ts";
import { ToolPins } from "../pins/tool-pins.ts";
import { silentLogger } from "../ports/logger.ts";
import type { ListedTool, ProtocolClient } from "../protocol/protocol-client.ts";
import { HostStore } from "../store/host-store.ts";
import { StoredCatalogs } from "./stored-catalogs.ts";
import { ToolCatalog } from "./tool-catalog.ts";

const client = {
  protocolVersion: "2025-11-25",
  serverInfo: { name: "s", version: "1" },
  instructions: undefined,
  capabilities: { tools: {} },
} as unknown as ProtocolClient;

const tool = (description: string, title?: string): ListedTool =>
  ({ name: "send", title, description, inputSchema: { type: "object" } }) as ListedTool;

function createMemory() {
  const clock = new ManualClock();
  const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
  const catalog = new ToolCatalog();
  const { registry, revision } = scriptedRegistry();
  const config = parseServerEntry("s", { command: "run" });
  const define = (configs: readonly (typeof config)[]): void => {
    registry.apply(configs);
    catalog.arrange(configs, new Set());
  };
  define([config]);
  const pins = new ToolPins({
    store,
    registry,
    revision,
    events: new EventBus(),
    clock,
  });
  const memory = new StoredCatalogs({ store, registry, catalog, pins });
  /** When what is stored of the server was written, once all that waits is. */
  const savedAt = async (consentId = registry.get("s").consentId) => {
    await clock.advance(1_000);
    const opened = await store.open();
    // The write makes its statements first.
    await nextTurn();
    const entry = await opened?.catalog.find(consentId);
    return entry?.savedAt;
  };
  const list = (...tools: ListedTool[]) => memory.listed(registry.get("s"), client, tools);
  return { clock, store, registry, catalog, memory, config, define, list, savedAt };
}

describe("StoredCatalogs", () => {
  it("decision 12: a list is written when it is another one, also across what a store leaves out", async () => {
    const { store, memory, list, savedAt } = createMemory();
    await list(tool("first"));
    const first = await savedAt();
    await list(tool("first"));
    expect(await savedAt()).toBe(first);
    await memory.load();
    await list(tool("first"));
    expect(await savedAt()).toBe(first);
    await list(tool("first", "Titled"));
    expect(await savedAt()).toBeGreaterThan(first ?? 0);
    await store.close();
  });

  it("decision 12: what was listed is brought back for exactly that launch", async () => {
    const { store, catalog, memory, config, define, list, savedAt } = createMemory();
    await list(tool("first"));
    await savedAt();
    define([parseServerEntry("s", { command: "other" })]);
    await memory.load();
    expect(catalog.isKnown("s")).toBe(false);
    define([config]);
    await memory.load();
    expect(catalog.tools("s")).toHaveLength(1);
    await store.close();
  });

  it("P15: a list is brought back with the fingerprints that were computed for it", async () => {
    const { store, registry, catalog, memory, list, savedAt } = createMemory();
    const tools = [tool("first"), { ...tool("second"), name: "other" }];
    await list(...tools);
    await savedAt();
    await memory.load();
    const recalled = catalog.tools("s").map(({ listed }) => listed);
    expect(recalled.map(isFingerprinted)).toEqual([true, true]);
    expect(recalled.map(fingerprintOf)).toEqual(tools.map(fingerprintOf));
    await store.close();

    // A row that a fingerprint is missing from is read without any.
    const damaged = createMemory();
    const opened = await damaged.store.open();
    const content = JSON.stringify({ tools, fingerprints: ["one"] });
    await opened?.catalog.save(new Map([[registry.get("s").consentId, content]]));
    await damaged.memory.load();
    const read = damaged.catalog.tools("s").map(({ listed }) => listed);
    expect(read.map(fingerprintOf)).toEqual(tools.map(fingerprintOf));
    await damaged.store.close();
  });

  it("P14: the lists of many servers are written together, each as it was last", async () => {
    const { clock, store, registry, memory, define } = createMemory();
    define(["a", "b", "c"].map((name) => parseServerEntry(name, { command: name })));
    const opened = await store.open();
    if (opened === undefined) throw new Error("the store is not open");
    const save = vi.spyOn(opened.catalog, "save");
    for (const text of ["first", "second"])
      for (const server of registry.all()) await memory.listed(server, client, [tool(text)]);
    await clock.advance(1_000);
    await nextTurn();
    expect(save).toHaveBeenCalledTimes(1);
    for (const { consentId } of registry.all())
      expect(await opened.catalog.find(consentId)).toMatchObject({
        content: { tools: [{ description: "second" }] },
      });
    await memory.listed(registry.get("b"), client, [tool("third")]);
    await store.close();
    expect(save).toHaveBeenCalledTimes(2);
    expect([...(save.mock.lastCall?.[0].keys() ?? [])]).toEqual([registry.get("b").consentId]);
  });

  it("P14: other work gets its turn while the lists of many servers are loaded", async () => {
    const { clock, store, registry, catalog, memory, define } = createMemory();
    const names = Array.from({ length: 16 }, (_, index) => `s${index}`);
    const configs = names.map((name) => parseServerEntry(name, { command: name }));
    define(configs);
    for (const server of registry.all()) await memory.listed(server, client, [tool("first")]);
    await clock.advance(1_000);
    const ids = registry.all().map(({ consentId }) => consentId);
    const saved = () => store.read(({ catalog: rows }) => rows.findAll(ids), new Map());
    await expect.poll(async () => (await saved()).size).toBe(names.length);
    let loadedInTurn = 0;
    let mostInTurn = 0;
    const load = catalog.load.bind(catalog);
    vi.spyOn(catalog, "load").mockImplementation((name, tools) => {
      const until = performance.now() + 11;
      while (performance.now() < until);
      loadedInTurn += 1;
      mostInTurn = Math.max(mostInTurn, loadedInTurn);
      load(name, tools);
    });
    const beginTurn = (): void => {
      loadedInTurn = 0;
      turn = setImmediate(beginTurn);
    };
    let turn = setImmediate(beginTurn);
    await memory.load();
    clearImmediate(turn);
    for (const name of names) expect(catalog.tools(name)).toHaveLength(1);
    // Each takes longer than a turn may, and four are loaded at once.
    expect(mostInTurn).toBeLessThanOrEqual(4);
    await store.close();
  });

  it("forgets a server that is gone", async () => {
    const { store, memory, config, define, list, savedAt } = createMemory();
    await list(tool("first"));
    const first = await savedAt();
    define([]);
    await memory.load();
    define([config]);
    await list(tool("first"));
    expect(await savedAt()).toBeGreaterThan(first ?? 0);
    await store.close();
  });
});
