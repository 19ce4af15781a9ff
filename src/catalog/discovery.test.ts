import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import { scriptedRegistry } from "../../tests/fixtures/connection/scripted-registry.ts";
import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { deferred } from "../../tests/host/deferred.ts";
import { defaultLimits } from "../config/keys/limits.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { ProtocolClient, ToolListing } from "../protocol/protocol-client.ts";
import type { ConnectionPurpose } from "../registry/server-registry.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { compareTools, Discovery } from "./discovery.ts";
import { ToolCatalog } from "./tool-catalog.ts";

const listing: ToolListing = {
  tools: [{ name: "first", description: "d", inputSchema: { type: "object" } }],
  rejected: [],
};

/** A server `s` that is being listed: the list and the review of it come when the test says so. */
function scene() {
  const catalog = new ToolCatalog();
  const purposes: ConnectionPurpose[] = [];
  const { registry } = scriptedRegistry((purpose) => {
    purposes.push(purpose);
    return scriptedConnection().connection;
  });
  const define = (command: string): void => {
    const config = parseServerEntry("s", { command });
    registry.apply([config]);
    catalog.arrange([config], new Set());
  };
  const list = deferred<ToolListing>();
  const review = deferred();
  const events: HostEvent[] = [];
  const listed: string[] = [];
  const reviewed: string[] = [];
  const discovery = new Discovery({
    catalog,
    limits: defaultLimits,
    clock: new ManualClock(),
    events: { emit: (event) => events.push(event) },
    pins: {
      review({ consentId }) {
        reviewed.push(consentId);
        return review.promise;
      },
    },
    storedCatalogs: { listed: async ({ consentId }) => void listed.push(consentId) },
  });
  define("first");
  const client = {
    capabilities: { tools: {} },
    listTools: () => list.promise,
  } as unknown as ProtocolClient;
  const { consentId } = registry.get("s");
  const found = purposes[0]?.server ?? (() => undefined);
  const begun = discovery.begin(client, found);
  return { begun, define, list, review, catalog, events, listed, reviewed, consentId };
}

describe("Discovery", () => {
  it("what a server lists is reviewed, offered and told as that server's", async () => {
    const { begun, list, review, catalog, events, listed, reviewed, consentId } = scene();
    list.resolve(listing);
    review.resolve();
    await begun;
    expect(catalog.tools("s").map(({ originalName }) => originalName)).toEqual(["first"]);
    expect([reviewed, listed]).toEqual([[consentId], [consentId]]);
    expect(events).toMatchObject([{ type: "tools-changed", added: ["first"] }]);
  });

  it.each(["while it is fetched", "while it is reviewed"])(
    "PRM-21: a list is nobody's when its server is replaced %s",
    async (when) => {
      const { begun, define, list, review, catalog, events, listed, reviewed, consentId } = scene();
      if (when === "while it is fetched") define("second");
      list.resolve(listing);
      await list.promise;
      if (when === "while it is reviewed") {
        expect(reviewed).toEqual([consentId]);
        define("second");
      }
      review.resolve();
      await begun;
      expect(catalog.isKnown("s")).toBe(false);
      expect([listed, events]).toEqual([[], []]);
    },
  );

  it("the failure to list a server that was replaced says nothing of the new one", async () => {
    const { begun, define, list, catalog, events } = scene();
    define("second");
    catalog.replace("s", listing);
    list.resolve(Promise.reject(new Error("the connection was closed")) as never);
    await begun;
    expect(catalog.tools("s")).toHaveLength(1);
    expect(events).toEqual([]);
  });
});

function definedTool(originalName: string, description = ""): CatalogTool {
  return {
    serverName: "s",
    originalName,
    title: undefined,
    description,
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
    outputSchema: undefined,
    annotations: {},
    icons: undefined,
    meta: undefined,
    isLive: true,
    listed: { name: "one" },
  };
}

describe("compareTools", () => {
  it("LIM-05: names what came, what went and what is no longer the same", async () => {
    const before = [definedTool("stays"), definedTool("goes"), definedTool("changes", "old")];
    const after = [definedTool("comes"), definedTool("changes", "new"), definedTool("stays")];
    expect(await compareTools(before, after)).toEqual({
      added: ["comes"],
      removed: ["goes"],
      changed: ["changes"],
    });
  });

  it("the order of members and of tools is no change", async () => {
    const turned = {
      ...definedTool("a"),
      inputSchema: { properties: { a: { type: "string" } }, type: "object" },
    };
    expect(
      await compareTools([definedTool("a"), definedTool("b")], [definedTool("b"), turned]),
    ).toEqual({
      added: [],
      removed: [],
      changed: [],
    });
  });

  it("decision 7: gives way to other work after a while", async () => {
    let compared = 0;
    const slow = (name: string): CatalogTool => ({
      ...definedTool(name),
      get annotations() {
        const until = performance.now() + 15;
        while (performance.now() < until);
        compared += 1;
        return {};
      },
    });
    const comparedBetween = new Promise<number>((resolve) => {
      setImmediate(() => setImmediate(() => resolve(compared)));
    });
    const names = ["a", "b", "c", "d", "e"];
    const [before, after] = [names.map((name) => slow(name)), names.map((name) => slow(name))];
    await compareTools(before, after);
    expect(await comparedBetween).toBeLessThan(compared);
  });
});
