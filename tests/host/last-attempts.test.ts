import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";

const { command, args = [] } = testServerEntry() as { command: string; args?: readonly string[] };

/** A home with a store, in which a server ends at once until the file `ok` is there. */
class Place {
  readonly home = mkdtempSync(path.join(tmpdir(), "attempts-"));
  readonly store = path.join(this.home, "attempts.db");
  readonly #ok = path.join(this.home, "ok");
  readonly entry = {
    command: "sh",
    args: ["-c", 'test -e "$0" && exec "$@"; exit 3', this.#ok, command, ...args],
  };

  /** What another process, or the next one, opens. */
  host(options: HostOptions = {}): Promise<McpHost> {
    const { home, store } = this;
    return createHost({ home, cwd: home, store, watch: false, reconnect: false, ...options });
  }

  async keep(entry: object = this.entry): Promise<void> {
    await using host = await this.host();
    await host.add("shaky", entry);
  }

  /** A process that tries the server and ends; whether that worked. */
  async attempt(): Promise<boolean> {
    await using host = await this.host();
    return await host.connect("shaky").then(
      () => true,
      () => false,
    );
  }

  async lastSeen(): Promise<object | undefined> {
    await using host = await this.host();
    const [status] = await host.serversAsLastSeen();
    return status && { state: status.state, code: status.lastError?.code, at: status.failedAt };
  }

  mend(): void {
    writeFileSync(this.#ok, "");
  }
}

const untouched = { state: "idle", code: undefined, at: undefined };
const failed = { state: "disconnected", code: "start_exit", at: expect.any(Number) as number };

describe("what the last attempt came to", () => {
  it("STA-03: is known to the next host, until an attempt succeeds", async () => {
    const place = new Place();
    await place.keep();
    expect(await place.lastSeen()).toEqual(untouched);
    const since = Date.now();
    expect(await place.attempt()).toBe(false);
    expect(await place.lastSeen()).toEqual(failed);
    const { at } = (await place.lastSeen()) as { at: number };
    expect(at).toBeGreaterThanOrEqual(since);
    expect(at).toBeLessThanOrEqual(Date.now());
    {
      // What is asked of this host alone is its own state.
      await using host = await place.host();
      expect(host.server("shaky")).toMatchObject({ state: "idle", lastError: undefined });
    }
    place.mend();
    expect(await place.attempt()).toBe(true);
    expect(await place.lastSeen()).toEqual(untouched);
  });

  it("STA-03: a host that is connected, or was since, shows that and no older failure", async () => {
    const place = new Place();
    await place.keep();
    await place.attempt();
    place.mend();
    await using host = await place.host();
    await host.connect("shaky");
    expect(await host.serversAsLastSeen()).toMatchObject([
      { state: "connected", lastError: undefined },
    ]);
    await host.disconnect("shaky");
    expect(await host.serversAsLastSeen()).toMatchObject([{ state: "idle", lastError: undefined }]);
  });

  it("STA-03: a stale status of a dead host is never taken for a connection", async () => {
    const place = new Place();
    await place.keep();
    {
      await using store = await openStore({ location: place.store });
      await store.servers.setStatuses(new Map([["shaky", "connected"]]));
    }
    expect(await place.lastSeen()).toEqual(untouched);
    await place.attempt();
    {
      await using store = await openStore({ location: place.store });
      await store.servers.setStatuses(new Map([["shaky", "connected"]]));
    }
    expect(await place.lastSeen()).toEqual(failed);
  });

  it.each<[string, (host: McpHost, entry: object) => Promise<unknown>]>([
    ["is changed", (host, entry) => host.update("shaky", { ...entry, connectTimeout: 7 })],
    [
      "is removed and added again",
      async (host, entry) => {
        await host.remove("shaky");
        await host.add("shaky", entry);
      },
    ],
  ])("is forgotten when the entry %s", async (_what, change) => {
    const place = new Place();
    await place.keep();
    await place.attempt();
    expect(await place.lastSeen()).toEqual(failed);
    {
      await using host = await place.host();
      await change(host, place.entry);
    }
    expect(await place.lastSeen()).toEqual(untouched);
  });

  it("is not shown for a server that is switched off", async () => {
    const place = new Place();
    await place.keep();
    await place.attempt();
    await using host = await place.host();
    await host.disable("shaky");
    expect(await host.serversAsLastSeen()).toMatchObject([{ state: "disabled" }]);
  });

  it("is kept bounded and without credentials, and not of what code has given", async () => {
    const place = new Place();
    const canary = `sk-${"c".repeat(30)}`;
    await place.keep({ command: "sh", args: ["-c", `echo "Error: ${canary}" >&2; exit 3`] });
    {
      await using host = await place.host({ servers: { mine: { command: "no-such-command" } } });
      await host.connectAll();
    }
    const rows = new DatabaseSync(place.store).prepare("SELECT * FROM server_failures").all();
    expect(rows).toMatchObject([{ server_name: "shaky", code: "start_exit" }]);
    expect(JSON.stringify(rows)).not.toContain("ccccc");
    const { message } = rows[0] as { message: string };
    expect(message.length).toBeLessThanOrEqual(500);
  });

  it("is no failure of another server under the same name, and rows of others are passed over", async () => {
    const place = new Place();
    await place.keep();
    await place.attempt();
    const database = new DatabaseSync(place.store);
    database.exec("UPDATE server_failures SET code = 'no_such_code'");
    expect(await place.lastSeen()).toEqual(untouched);
    database.exec("UPDATE server_failures SET code = 'start_exit', identity = 'another'");
    expect(await place.lastSeen()).toEqual(untouched);
    database.close();
  });

  it("costs a host that never asks no failure where nothing is kept", async () => {
    await using host = await createHost({
      config: false,
      servers: { gone: { command: "no-such-command" } },
    });
    await host.connectAll();
    expect(await host.serversAsLastSeen()).toMatchObject([
      {
        state: "error",
        lastError: { code: "command_not_found" },
        failedAt: expect.any(Number) as number,
      },
    ]);
  });
});
