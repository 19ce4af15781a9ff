import { describe, expect, it } from "vitest";

import { EventBus } from "./event-bus.ts";
import type { HostEvent } from "./host-event.ts";

const warning: HostEvent = { type: "warning", text: "w", at: 0 };

describe("EventBus", () => {
  it("delivers to the type's handlers and to those of every type, until they leave", () => {
    const bus = new EventBus();
    const seen: string[] = [];
    const leave = bus.on("warning", ({ text }) => seen.push(`typed ${text}`));
    bus.on("*", ({ type }) => seen.push(`any ${type}`));
    bus.on("tools-changed", () => seen.push("wrong"));
    bus.emit(warning);
    leave();
    bus.emit(warning);
    expect(seen).toEqual(["typed w", "any warning", "any warning"]);
  });

  it("a function given twice is called twice, and each leaves for itself", () => {
    const bus = new EventBus();
    let count = 0;
    const handler = (): void => {
      count += 1;
    };
    for (const subscribe of [() => bus.on("warning", handler), () => bus.on("*", handler)]) {
      count = 0;
      const [first, second] = [subscribe(), subscribe()];
      bus.emit(warning);
      expect(count).toBe(2);
      first();
      first();
      bus.emit(warning);
      expect(count).toBe(3);
      second();
      bus.emit(warning);
      expect(count).toBe(3);
    }
  });

  it("ERR-18: a handler that throws or rejects changes nothing for the others", async () => {
    const errors: unknown[] = [];
    const bus = new EventBus((error) => errors.push(error));
    const seen: string[] = [];
    bus.on("warning", () => {
      throw new Error("thrown");
    });
    const rejecting = (): unknown => Promise.reject(new Error("rejected"));
    bus.on("warning", rejecting);
    bus.on("warning", () => seen.push("reached"));
    expect(() => bus.emit(warning)).not.toThrow();
    await new Promise(setImmediate);
    expect(seen).toEqual(["reached"]);
    expect(errors.map(String)).toEqual(["Error: thrown", "Error: rejected"]);
  });

  it("knows whether anyone listens", () => {
    const bus = new EventBus();
    const topic = bus.topic("warning");
    const seen = () => ({ isHeard: topic.isHeard, isWanted: topic.isWanted });
    expect(seen()).toEqual({ isHeard: false, isWanted: false });
    const leaveAll = bus.on("*", () => {});
    expect(seen()).toEqual({ isHeard: true, isWanted: false });
    const leave = bus.on("warning", () => {});
    leaveAll();
    expect(seen()).toEqual({ isHeard: true, isWanted: true });
    leave();
    expect(seen()).toEqual({ isHeard: false, isWanted: false });
  });
});
