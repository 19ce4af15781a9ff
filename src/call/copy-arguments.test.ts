import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { defaultLimits } from "../config/keys/limits.ts";
import type { CallRecord } from "./call-events.ts";
import { copyArguments } from "./copy-arguments.ts";

function taken(args: unknown): Pick<CallRecord, "args" | "argumentsText" | "argumentsProblem"> {
  const record = {
    args,
    argumentsText: undefined,
    argumentsProblem: undefined,
  } as unknown as CallRecord;
  copyArguments(record);
  return record;
}

describe("copyArguments", () => {
  it("BRG-08: gives what JSON would say, and no part of the caller's object", () => {
    const given = {
      text: "ä\u2028",
      list: [1, [true, null], {}],
      10: -0,
      2: 1.5,
      left: undefined,
      ["__proto__"]: { polluted: true },
      bare: Object.assign(Object.create(null) as object, { a: 1 }),
    };
    const text = JSON.stringify(given);
    const { args, argumentsText, argumentsProblem } = taken(given);
    given.list.push("later");
    expect(argumentsProblem).toBeUndefined();
    expect(argumentsText).toBe(text);
    expect(JSON.stringify(args)).toBe(text);
    expect(Object.keys(args)).toEqual(Object.keys(JSON.parse(text) as object));
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });

  it("takes objects of another realm, and as much depth as a message may have", () => {
    const foreign = runInNewContext("({ a: [{ b: 1 }] })") as object;
    expect(taken(foreign).argumentsText).toBe('{"a":[{"b":1}]}');
    const { maxJsonDepth } = defaultLimits;
    const nest = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
      levels === 0 ? 1 : wrap(nest(levels - 1, wrap));
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
      expect(taken(nest(maxJsonDepth, wrap)).argumentsProblem).toBeUndefined();
      expect(taken(nest(maxJsonDepth + 1, wrap)).argumentsProblem).toBeDefined();
    }
  });

  it("looks at every part once and never at toJSON", () => {
    const read: string[] = [];
    const watched = <T extends object>(name: string, target: T): T =>
      new Proxy(target, {
        get(from, key) {
          read.push(`${name}.${String(key)}`);
          return Reflect.get(from, key) as unknown;
        },
      });
    const inner = watched("inner", { b: 1 });
    const args = Object.defineProperty(watched("outer", { a: inner }), "toJSON", {
      enumerable: false,
      value: () => ({ a: "another" }),
    });
    expect(taken(args).argumentsText).toBe('{"a":{"b":1}}');
    expect(read).toEqual(["outer.a", "inner.b"]);
  });

  it.each([
    ["a function", { a: () => 1 }, '"a" is of type function, which JSON does not have'],
    ["a number that is none", { a: [0, Number.NaN] }, '"a[1]" is not a finite number'],
    ["a gap in a list", { a: [undefined] }, "is of type undefined"],
    ["a date", { a: { b: new Date() } }, "is not a plain object"],
    ["a big integer", { a: 1n }, "is of type bigint"],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("secret");
        },
      },
      "cannot be read",
    ],
  ])("refuses %s, with the reason", (_name, args, reason) => {
    const { argumentsProblem, argumentsText } = taken(args);
    expect(argumentsProblem?.message).toContain(reason);
    expect(argumentsProblem?.message).not.toContain("secret");
    expect(argumentsText).toBeUndefined();
  });

  it("refuses what contains itself, however often, at once", () => {
    const args: Record<string, unknown> = {};
    for (const key of ["a", "b", "c"]) args[key] = args;
    expect(taken(args).argumentsProblem?.message).toContain("contains itself");
  });

  it("refuses an object that looks plain only at times", () => {
    let asked = 0;
    const a = new Proxy(
      {},
      {
        getPrototypeOf() {
          asked += 1;
          return asked === 1 ? Date.prototype : Object.prototype;
        },
      },
    );
    expect(taken({ a }).argumentsProblem?.message).toContain("is not a plain object");
  });
});
