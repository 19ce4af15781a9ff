import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { PendingRequest, PendingRequests } from "./pending-requests.ts";

class SilentRequest extends PendingRequest {
  constructor() {
    super({ method: "test", params: {}, options: {} });
  }
  succeed(): void {}
  fail(): void {}
}

describe("PendingRequests", () => {
  it("PRO-08: finds by exactly the id, of the same type and value", () => {
    const pending = new PendingRequests({ strict: false });
    const request = new SilentRequest();
    pending.add(request);
    expect(request.id).toBe(1);
    expect(pending.get(1)).toBe(request);
    for (const other of ["1", 1.5, -1, 65, Number.NaN, 1 + 2 ** 32, null, undefined])
      expect(pending.get(other)).toBeUndefined();
    expect(pending.abandon(request)).toBe(true);
    expect(pending.abandon(request)).toBe(false);
    expect(pending.get(1)).toBeUndefined();
  });

  it("one that waits for ever costs no more than its slot, however many come after it", () => {
    const pending = new PendingRequests({ strict: false });
    const patient = new SilentRequest();
    pending.add(patient);
    let lastId = 0;
    for (let count = 0; count < 10_000; count += 1) {
      const request = new SilentRequest();
      pending.add(request);
      pending.abandon(request);
      lastId = request.id;
    }
    expect(pending.all()).toEqual([patient]);
    // One id in each round of slots is passed over.
    expect(lastId).toBeLessThan(10_400);
  });

  it("walks oldest first, and deleting the one at hand does not end the walk", () => {
    const pending = new PendingRequests({ strict: false });
    const requests = Array.from({ length: 300 }, () => new SilentRequest());
    for (const request of requests) pending.add(request);
    const seen: PendingRequest[] = [];
    for (const request of pending.all()) {
      seen.push(request);
      pending.abandon(request);
    }
    expect(seen).toEqual(requests);
    expect(pending.size).toBe(0);
  });

  it("is a map in order, whatever is added and deleted", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 400 }), { maxLength: 400 }), (steps) => {
        const pending = new PendingRequests({ strict: false });
        const model = new Map<number, PendingRequest>();
        for (const step of steps) {
          const victim = [...model.values()][step];
          if (victim === undefined) {
            const request = new SilentRequest();
            pending.add(request);
            expect(model.has(request.id)).toBe(false);
            model.set(request.id, request);
          } else {
            expect(pending.abandon(victim)).toBe(true);
            model.delete(victim.id);
          }
        }
        expect(pending.all()).toEqual([...model.values()]);
        expect(pending.size).toBe(model.size);
        for (const [id, request] of model) expect(pending.get(id)).toBe(request);
      }),
    );
  });
});
