import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { OpenRequests } from "./open-requests.ts";
import { RpcRequest } from "./rpc-request.ts";

class SilentRequest extends RpcRequest {
  constructor() {
    super({ method: "test", params: {}, options: {} });
  }
  succeed(): void {}
  fail(): void {}
}

describe("OpenRequests", () => {
  it("PRO-08: finds by exactly the id, of the same type and value", () => {
    const open = new OpenRequests();
    const request = new SilentRequest();
    open.add(request);
    expect(request.id).toBe(1);
    expect(open.get(1)).toBe(request);
    for (const other of ["1", 1.5, -1, 65, Number.NaN, 1 + 2 ** 32, null, undefined])
      expect(open.get(other)).toBeUndefined();
    expect(open.delete(request)).toBe(true);
    expect(open.delete(request)).toBe(false);
    expect(open.get(1)).toBeUndefined();
  });

  it("one that waits for ever costs no more than its place, however many come after it", () => {
    const open = new OpenRequests();
    const patient = new SilentRequest();
    open.add(patient);
    for (let count = 0; count < 10_000; count += 1) {
      const request = new SilentRequest();
      open.add(request);
      open.delete(request);
    }
    expect([...open]).toEqual([patient]);
    // One id in each round of places is passed over.
    expect(open.lastId).toBeLessThan(10_400);
  });

  it("walks oldest first, and deleting the one at hand does not end the walk", () => {
    const open = new OpenRequests();
    const requests = Array.from({ length: 300 }, () => new SilentRequest());
    for (const request of requests) open.add(request);
    const seen: RpcRequest[] = [];
    for (const request of open) {
      seen.push(request);
      open.delete(request);
    }
    expect(seen).toEqual(requests);
    expect(open.size).toBe(0);
  });

  it("is a map in order, whatever is added and deleted", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 400 }), { maxLength: 400 }), (steps) => {
        const open = new OpenRequests();
        const model = new Map<number, RpcRequest>();
        for (const step of steps) {
          const victim = [...model.values()][step];
          if (victim === undefined) {
            const request = new SilentRequest();
            open.add(request);
            expect(model.has(request.id)).toBe(false);
            model.set(request.id, request);
          } else {
            expect(open.delete(victim)).toBe(true);
            model.delete(victim.id);
          }
        }
        expect([...open]).toEqual([...model.values()]);
        expect(open.size).toBe(model.size);
        for (const [id, request] of model) expect(open.get(id)).toBe(request);
      }),
    );
  });
});
