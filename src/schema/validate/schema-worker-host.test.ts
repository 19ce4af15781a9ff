import { afterEach, describe, expect, it } from "vitest";

import type { Verdict } from "../compile/validation-failure.ts";
import { SchemaWorker, type SchemaWorkerOptions } from "./schema-worker-host.ts";
import { ValidatorCache } from "./validator-cache.ts";
import { createValidator } from "./validator.ts";

/** The worker's module is TypeScript here, which a thread of Node 20 cannot load by itself. */
function entryFromSource(): URL {
  const loader = import.meta.resolve("tsx/esm/api");
  const entry = new URL("schema-worker.ts", import.meta.url).href;
  const code = `import { register } from ${JSON.stringify(loader)};
    register();
    await import(${JSON.stringify(entry)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

const workers: SchemaWorker[] = [];

function startWorker(options: SchemaWorkerOptions = {}): SchemaWorker {
  const worker = new SchemaWorker({ entry: entryFromSource(), timeoutMs: 10_000, ...options });
  workers.push(worker);
  return worker;
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
});

/** Offers the next level twice for the same property: 2^levels ways to fail. */
function bomb(levels: number): { readonly schema: unknown; readonly value: unknown } {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: "string" } };
  let value: unknown = 5;
  for (let level = 0; level < levels; level += 1) {
    const form = { properties: { a: { $ref: `#/$defs/d${level + 1}` } } };
    $defs[`d${level}`] = { anyOf: [form, { ...form }] };
    value = { a: value };
  }
  return { schema: { $defs, $ref: "#/$defs/d0" }, value };
}

const recursive = {
  $defs: {
    node: {
      anyOf: [
        { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["a"] },
        { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["b"] },
        { type: "string", pattern: "^(x+)+$" },
      ],
    },
  },
  $ref: "#/$defs/node",
};

describe("SchemaWorker", () => {
  it("BRG-21: gives a complex schema the verdict a plain one would get", async () => {
    const worker = startWorker();
    const text = JSON.stringify(recursive);
    expect(await worker.validate(text, { a: 1, next: { b: 1, next: "xxx" } })).toEqual({
      verdict: undefined,
    });
    const validator = createValidator(recursive, { offload: worker });
    expect(validator.report.kind).toBe("complex");
    expect(await validator.validate({ a: 1, next: "xxx" })).toBeUndefined();
    expect(await validator.validate({ a: 1, next: "y" })).toMatchObject({ kind: "invalid" });
    expect(await validator.validate(5)).toMatchObject({ kind: "invalid" });
  });

  it("BRG-21: checks of different schemas wait for each other and keep their answers apart", async () => {
    const validators = new ValidatorCache({ offload: startWorker() });
    const check = async (schema: object, value: object): Promise<Verdict> =>
      await validators.forSchema(schema).validate(value);
    const schemas = ["a", "b", "c"].map((name) => ({ ...recursive, required: [name] }));
    const verdicts = await Promise.all(
      schemas.flatMap((schema) => [
        check(schema, { a: 1, b: 1, c: 1 }),
        check(schema, { a: 1, b: 1 }),
      ]),
    );
    expect(verdicts.map((verdict) => verdict?.message)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      '"c" is required',
    ]);
  });

  it("BRG-21: a check that overruns its deadline is ended, and those behind it get a new thread", async () => {
    const worker = startWorker({ timeoutMs: 2_000 });
    const { schema, value } = bomb(40);
    const [overdue, fine] = await Promise.all([
      worker.validate(JSON.stringify(schema), value),
      worker.validate(JSON.stringify(recursive), "xx"),
    ]);
    expect(overdue).toBe("too-costly");
    expect(fine).toEqual({ verdict: undefined });
  });

  it("BRG-21: what overran its deadline has no verdict", async () => {
    const { schema, value } = bomb(40);
    const validator = createValidator(schema, { offload: startWorker({ timeoutMs: 100 }) });
    expect(await validator.validate(value)).toEqual({
      kind: "unchecked",
      message: "checking it against the schema takes longer than 250 ms",
      problems: [],
    });
  });

  it("BRG-21: the worker gives the reason for which it refuses a schema", async () => {
    expect(await startWorker().validate('{"$ref":"#/missing"}', {})).toEqual({
      verdict: {
        kind: "unchecked",
        message: 'the schema cannot be used: it refers to "#/missing", which it does not contain',
        problems: [],
      },
    });
  });

  it("BRG-21: without a worker a complex schema is still checked, within the budget", async () => {
    const offload = startWorker({ entry: new URL("data:text/javascript,throw new Error('no')") });
    const validator = createValidator(recursive, { offload });
    expect(await validator.validate("xx")).toBeUndefined();
    expect(await validator.validate("y")).toMatchObject({ kind: "invalid" });
    const { schema, value } = bomb(40);
    expect(await createValidator(schema, { offload }).validate(value)).toMatchObject({
      kind: "unchecked",
    });
  });

  it("BRG-21: a worker whose module does not exist counts as none", async () => {
    const offload = startWorker({ entry: new URL("file:///nonexistent/schema-worker.js") });
    expect(await offload.validate("{}", 1)).toBe("unavailable");
    expect(await offload.validate("{}", 1)).toBe("unavailable");
  });

  it("BRG-21: closing ends what is under way, and closing twice is fine", async () => {
    const worker = startWorker();
    const { schema, value } = bomb(40);
    const answers = [1, 2, 3].map(() => worker.validate(JSON.stringify(schema), value));
    await worker.close();
    expect(await Promise.all(answers)).toEqual(["unavailable", "unavailable", "unavailable"]);
    await worker.close();
    expect(await worker.validate("{}", 1)).toBe("unavailable");
  });

  it("BRG-21: a value that cannot be copied to the thread is not checked there", async () => {
    const worker = startWorker();
    expect(await worker.validate("{}", () => 1)).toBe("unavailable");
    expect(await worker.validate('{"type":"string"}', "x")).toEqual({ verdict: undefined });
  });

  it("BRG-21: a queue that is too long sends further checks away", async () => {
    const worker = startWorker();
    const answers = Array.from({ length: 80 }, () => worker.validate("true", 1));
    const all = await Promise.all(answers);
    expect(all.filter((answer) => answer === "unavailable")).toHaveLength(15);
  });
});
