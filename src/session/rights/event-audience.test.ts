import { describe, expect, it } from "vitest";

import type { HostEvent, HostEventType } from "../../events/host-event.ts";
import { type Listener, partForSession } from "./event-audience.ts";

/** Agent `a` in session `s`: it sees `files`, where `b` has a connection of its own, and owns one to `mine`. */
const listener = {
  agent: "a",
  sessionId: "s",
  judge: { sees: (name: string) => name === "files" || name === "mine" },
  registry: {
    visibilityOf: (name: string) =>
      name === "gone"
        ? undefined
        : { isOwner: (agent: string) => name === "mine" && agent === "a" },
  },
} as Listener;
const hears = (event: object): boolean =>
  partForSession(event as HostEvent, listener) === (event as HostEvent);

const ownSession: readonly HostEventType[] = [
  "call-start",
  "call-progress",
  "call-end",
  "tool-invoked",
  "consent-asked",
  "consent-granted",
  "consent-denied",
  "state-changed",
  "transaction-end",
];
const seenServer: readonly HostEventType[] = [
  "tools-changed",
  "tool-quarantined",
  "tool-accepted",
  "launch-asked",
  "launch-approved",
  "launch-denied",
  "launch-revoked",
];
const usedConnection: readonly HostEventType[] = ["server-state", "server-log"];
const rights: readonly HostEventType[] = [
  "consent-mode-set",
  "consent-ended",
  "grant-added",
  "grant-revoked",
];

describe("what a session hears", () => {
  it.each(ownSession)("REG-02: of %s what happens in it", (type) => {
    expect(hears({ type, sessionId: "s" })).toBe(true);
    expect(hears({ type, sessionId: "other" })).toBe(false);
  });

  it.each(seenServer)("REG-02: of %s what concerns servers that it sees", (type) => {
    expect(hears({ type, serverName: "files" })).toBe(true);
    expect(hears({ type, serverName: "hidden" })).toBe(false);
  });

  it.each(usedConnection)(
    "REG-02: of %s what concerns the connection that its agent uses",
    (type) => {
      expect(hears({ type, serverName: "files", owner: null })).toBe(true);
      expect(hears({ type, serverName: "files", owner: "b" })).toBe(false);
      expect(hears({ type, serverName: "files", owner: "a" })).toBe(false);
      expect(hears({ type, serverName: "mine", owner: "a" })).toBe(true);
      expect(hears({ type, serverName: "mine", owner: null })).toBe(false);
      expect(hears({ type, serverName: "hidden", owner: null })).toBe(false);
      expect(hears({ type, serverName: "gone", owner: null })).toBe(false);
    },
  );

  it.each(rights)(
    "PRM-10: of %s what concerns its agent or all, and servers that it sees",
    (type) => {
      expect(hears({ type, agent: "a", serverName: "files" })).toBe(true);
      expect(hears({ type, agent: null, serverName: "files" })).toBe(true);
      expect(hears({ type, agent: "a", serverName: null })).toBe(true);
      expect(hears({ type, agent: "b", serverName: "files" })).toBe(false);
      expect(hears({ type, agent: "b", serverName: null })).toBe(false);
      expect(hears({ type, agent: "a", serverName: "hidden" })).toBe(false);
      expect(hears({ type, agent: null, serverName: "hidden" })).toBe(false);
    },
  );

  it.each(["request-asked", "request-answered"])(
    "REG-02: of %s its own calls, or its connection",
    (type) => {
      expect(hears({ type, sessionId: "s", serverName: "hidden", owner: "b" })).toBe(true);
      expect(hears({ type, sessionId: "other", serverName: "files", owner: null })).toBe(false);
      expect(hears({ type, serverName: "files", owner: null })).toBe(true);
      expect(hears({ type, serverName: "files", owner: "b" })).toBe(false);
    },
  );

  it("REG-02: of warnings its own and those about servers that it sees", () => {
    const type = "warning";
    expect(hears({ type, sessionId: "s", serverName: "hidden" })).toBe(true);
    expect(hears({ type, sessionId: "other", serverName: "files" })).toBe(false);
    expect(hears({ type, serverName: "files" })).toBe(true);
    expect(hears({ type, serverName: "hidden" })).toBe(false);
    expect(hears({ type })).toBe(false);
  });

  it("REG-02: of changed servers the names that it sees, and nothing when there are none", () => {
    const event = {
      type: "servers-changed",
      added: ["files", "hidden"],
      removed: ["mine"],
      changed: ["hidden"],
      at: 1,
    };
    expect(partForSession(event as HostEvent, listener)).toEqual({
      type: "servers-changed",
      added: ["files"],
      removed: ["mine"],
      changed: [],
      at: 1,
    });
    const part = (names: object) =>
      partForSession(
        { ...event, added: [], removed: [], changed: [], ...names } as HostEvent,
        listener,
      );
    expect(part({ added: ["hidden"] })).toBeUndefined();
    expect(part({ removed: ["mine"], changed: ["files"] })).toMatchObject({ changed: ["files"] });
    for (const kind of ["added", "removed", "changed"])
      expect(part({ [kind]: ["files"] })).toMatchObject({ [kind]: ["files"] });
  });
});
