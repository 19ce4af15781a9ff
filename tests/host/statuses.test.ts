import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";

interface Place extends AsyncDisposable {
  readonly host: McpHost;
  readonly file: string;
  /** Lets the time pass after which the host writes what may be lost, and waits for that. */
  written(): Promise<void>;
  /** Every status that was written, in order, by whoever. */
  history(): readonly string[];
  statuses(): Promise<Readonly<Record<string, string>>>;
}

async function makePlace(): Promise<Place> {
  const home = await mkdtemp(path.join(tmpdir(), "statuses-"));
  const file = path.join(home, "statuses.db");
  {
    await using store = await openStore({ location: file });
    await store.servers.put({ id: "7", name: "stored", config: { ...testServerEntry() } });
    await store.servers.put({ id: "other", name: "other", config: { command: "none" } });
  }
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE history (seq INTEGER PRIMARY KEY, entry TEXT);
    CREATE TRIGGER follow AFTER UPDATE OF status ON mcp_servers
    BEGIN INSERT INTO history (entry) VALUES (new.name || ' ' || new.status); END;`);
  const clock = new ManualClock();
  const host = await createHost({
    home,
    cwd: home,
    store: file,
    watch: false,
    clock,
    servers: { code: testServerEntry(), other: testServerEntry() },
  });
  return {
    host,
    file,
    async written() {
      await clock.advance(1_000);
      // Writes are done in order: this one has to wait for those before it.
      await host.approve("code");
    },
    history: () =>
      database
        .prepare("SELECT entry FROM history ORDER BY seq")
        .all()
        .map((row) => String((row as { readonly entry: unknown }).entry)),
    async statuses() {
      await using store = await openStore({ location: file });
      return Object.fromEntries((await store.servers.list()).map((row) => [row.name, row.status]));
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      database.close();
      await rm(home, { recursive: true });
    },
  };
}

describe("the status column", () => {
  it("STA-03: holds the last state of a stored server, each moment written once", async () => {
    await using place = await makePlace();
    const { host } = place;
    const states: string[] = [];
    host.on("server-state", ({ serverName, state }) => states.push(`${serverName} ${state}`));
    await host.connect("stored");
    await host.reconnect("stored");
    expect(states).toEqual([
      "stored connecting",
      "stored connected",
      "stored idle",
      "stored connecting",
      "stored connected",
    ]);
    expect(place.history()).toEqual([]);
    await place.written();
    expect(place.history()).toEqual(["stored connected"]);
    await host.close();
    expect(place.history()).toEqual(["stored connected", "stored idle"]);
  });

  it("STA-03: says nothing of servers that are defined elsewhere, and nothing to other hosts", async () => {
    await using place = await makePlace();
    await using reader = await openStore({ location: place.file });
    const changes: ReadonlySet<string>[] = [];
    const told = new Promise<void>((resolve) => {
      reader.onchange((areas) => {
        changes.push(areas);
        if (areas.has("secrets")) resolve();
      });
    });
    await place.host.connectAll();
    await place.written();
    expect(await place.statuses()).toEqual({ stored: "connected", other: "idle" });
    expect(place.history()).toEqual(["stored connected"]);
    await using writer = await openStore({ location: place.file });
    await writer.secrets.put("a", "b");
    await told;
    expect(changes.some((areas) => areas.has("servers"))).toBe(false);
  });

  it("STA-03: a stale one is ignored, and switching off is a status", async () => {
    await using place = await makePlace();
    {
      await using store = await openStore({ location: place.file });
      await store.servers.setStatuses(new Map([["stored", "connected"]]));
    }
    await using host = await createHost({ store: place.file, configFiles: [], watch: false });
    expect(host.server("stored").state).toBe("idle");
    await host.disable("stored");
    expect(await place.statuses()).toMatchObject({ stored: "disabled" });
    await host.enable("stored");
    expect(await place.statuses()).toEqual({ stored: "idle", other: "idle" });
  });
});
