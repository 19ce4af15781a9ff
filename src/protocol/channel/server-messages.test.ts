import { describe, expect, it } from "vitest";

import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import {
  legacyHello,
  modernHello,
  ScriptedPeer,
} from "../../../tests/fixtures/protocol/scripted-peer.ts";
import type { ServerNotification } from "../protocol-client.ts";
import { EarlyNotifications } from "./server-messages.ts";

function line(data: unknown): ServerNotification {
  return { method: "notifications/message", params: { level: "info", data } };
}

describe.each(implementations)("notifications before anybody listens, over %s", (_, connect) => {
  it.each([
    ["legacy", "initialize", legacyHello],
    ["modern", "server/discover", modernHello],
  ] as const)("PRO-18: of a %s server are heard later, in order", async (era, method, hello) => {
    const peer = new ScriptedPeer({
      [method]: () => {
        peer.notify("notifications/message", line("starting").params);
        peer.notify("notifications/tools/list_changed");
        return hello;
      },
    });
    const client = await connect(peer.transport, protocolOptions({ knownEra: era }));
    peer.notify("notifications/message", line("ready").params);
    const seen: ServerNotification[] = [];
    client.onnotification = undefined;
    client.onnotification = (notification) => {
      seen.push(notification);
      if (seen.length > 1) return;
      peer.notify("notifications/message", line("brought about by the first").params);
      throw new Error("a bug of the host");
    };
    // In the same turn: it must not overtake the others.
    peer.notify("notifications/message", line("last").params);
    expect(seen).toEqual([]);
    await settled();
    expect(seen).toEqual([
      line("starting"),
      { method: "notifications/tools/list_changed" },
      line("ready"),
      line("last"),
      line("brought about by the first"),
    ]);
    peer.notify("vendor/thing");
    expect(seen.at(-1)).toEqual({ method: "vendor/thing" });
    client.onnotification = undefined;
    peer.notify("vendor/other");
    client.onnotification = (notification) => seen.push(notification);
    await settled();
    expect(seen).toHaveLength(6);
    await client.close();
  });

  it("of a flood the first are kept, and what comes afterwards is heard", async () => {
    const peer = new ScriptedPeer({
      "server/discover": () => {
        for (let i = 0; i < 2_000; i += 1) peer.notify("notifications/message", line(i).params);
        return modernHello;
      },
    });
    const options = protocolOptions({ knownEra: "modern" });
    const client = await connect(peer.transport, options);
    const seen: ServerNotification[] = [];
    client.onnotification = (notification) => seen.push(notification);
    await options.clock.advance(1_000);
    expect(seen).toEqual(Array.from({ length: 100 }, (_item, i) => line(i)));
    peer.notify("notifications/message", line("later").params);
    expect(seen.at(-1)).toEqual(line("later"));
    await client.close();
  });
});

describe("EarlyNotifications", () => {
  it.each([
    ["text", "x".repeat(200_000)],
    ["a list", Array.from({ length: 15_000 }, () => 0)],
    ["members", Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`${i}`, null]))],
    [
      "depth",
      Array.from({ length: 50 }).reduce((inner) => ({ inner, text: "x".repeat(4_000) }), 0),
    ],
  ])("of heavy ones, by %s, keeps only as many as there is room for", (_, data) => {
    const early = new EarlyNotifications();
    for (const notification of [line(data), line(data), line("short")]) early.keep(notification);
    expect([...early]).toEqual([line(data), line("short")]);
  });
});
