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
import { Discovery } from "./discovery.ts";
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
