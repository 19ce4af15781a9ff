import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod/v3";

import { createHost, type NativeTool, type Session } from "../../src/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";

async function openSession(): Promise<{ session: Session } & AsyncDisposable> {
  const host = await createHost({ config: false });
  return {
    session: host.session({ level: "yolo" }),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

const orderSchema = z.object({
  item: z.string().min(1).describe("What to order"),
  count: z.number().int().default(1),
  tags: z.array(z.string()).optional(),
});

/** A schema as another library would carry it: of draft-07 only, without a check of its own. */
const carried = Object.assign(() => {}, {
  "~standard": {
    version: 1 as const,
    vendor: "other",
    types: undefined as
      | { readonly input: { readonly n: string }; readonly output: { readonly n: number } }
      | undefined,
    jsonSchema: {
      input: () => ({ type: "object", properties: { n: { type: "string" } } }),
      output({ target }: { readonly target: string }) {
        if (target !== "draft-07") throw new Error(`no target ${target}`);
        return { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
      },
    },
  },
});

describe("a native tool with a schema of another library", () => {
  it("BRG-06: zod gives the JSON Schema, the type of the arguments and their defaults", async () => {
    await using opened = await openSession();
    const { session } = opened;
    const seen: unknown[] = [];
    const tool = session.defineTool({
      name: "order",
      description: "Orders something",
      inputSchema: orderSchema,
      outputSchema: z.object({ total: z.number() }),
      handler(params) {
        expectTypeOf(params).toEqualTypeOf<{
          item: string;
          count: number;
          tags?: string[] | undefined;
        }>();
        seen.push(params);
        return { total: params.count * 2 };
      },
    });
    expect(tool.inputSchema).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        item: { type: "string", minLength: 1, description: "What to order" },
        count: expect.objectContaining({ type: "integer", default: 1 }),
        tags: { type: "array", items: { type: "string" } },
      },
      // What has a default may be left out.
      required: ["item"],
    });
    expect(tool.outputSchema).toMatchObject({ required: ["total"] });
    expect(await session.call("order", { item: "tea" })).toMatchObject({
      ok: true,
      structured: { total: 2 },
    });
    expect(seen).toEqual([{ item: "tea", count: 1 }]);
    expect(await session.call("order", { item: 1 })).toMatchObject({
      error: { code: "invalid_arguments", message: expect.stringContaining('"item"') as string },
    });
    expect(seen).toHaveLength(1);
  });

  it("BRG-10: what only the library can check fails the call before the handler, with its words", async () => {
    await using opened = await openSession();
    const { session } = opened;
    let runs = 0;
    session.defineTool({
      name: "book",
      description: "Books a time",
      inputSchema: z
        .object({ from: z.number(), to: z.number(), mail: z.email() })
        .refine(async ({ from, to }) => from < to, { path: ["to"], message: "ends too early" })
        .transform(({ from, to }) => ({ minutes: to - from })),
      handler(params) {
        expectTypeOf(params).toEqualTypeOf<{ minutes: number }>();
        runs += 1;
        return `${params.minutes}`;
      },
    });
    const mail = "me@example.com";
    expect(await session.call("book", { from: 1, to: 31, mail })).toMatchObject({ text: "30" });
    const refused = await session.call("book", { from: 2, to: 1, mail });
    expect(refused).toMatchObject({
      ok: false,
      sideEffects: "none",
      error: {
        code: "invalid_arguments",
        message: 'book: "to" is not accepted: ends too early',
        details: { toolName: "book", problems: [{ path: "/to" }] },
      },
    });
    expect(await session.call("book", { from: 1, to: 2, mail: "x" })).toMatchObject({
      error: { code: "invalid_arguments" },
    });
    expect(runs).toBe(1);
  });

  it("a check that never ends is given up with the call", async () => {
    await using opened = await openSession();
    const { session } = opened;
    session.defineTool({
      name: "slow",
      description: "Never checked",
      inputSchema: z.object({}).refine(() => new Promise<boolean>(() => {})),
      handler: () => "done",
    });
    expect(await session.call("slow", {}, { timeoutMs: 50 })).toMatchObject({
      error: { code: "timeout" },
      sideEffects: "none",
    });
  });

  it("whatever carries a Standard JSON Schema will do, be it a function, without a check, of draft-07", async () => {
    await using opened = await openSession();
    const { session } = opened;
    const tool = session.defineTool({
      name: "number",
      description: "Takes a number",
      inputSchema: carried,
      handler(params) {
        expectTypeOf(params).toEqualTypeOf<{ readonly n: number }>();
        return `${params.n + 1}`;
      },
    });
    // Nothing turns the input into the output, so the output is what has to be given.
    expect(tool.inputSchema).toMatchObject({
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { n: { type: "number" } },
    });
    expect((await session.call("number", { n: 1 })).text).toBe("2");
    session.defineTool({
      name: "mini",
      description: "As JSON Schema that remembers its type",
      inputSchema: mini.toJSONSchema(mini.object({ a: mini.number() })),
      handler: ({ a }) => `${a}`,
    });
    expect((await session.call("mini", { a: 1 })).text).toBe("1");
    expect(await session.call("mini", { a: "1" })).toMatchObject({
      error: { code: "invalid_arguments" },
    });
  });

  it("what carries none, or cannot be JSON Schema, is refused with the way out", async () => {
    await using opened = await openSession();
    const { session } = opened;
    const define = (inputSchema: unknown) => () =>
      session.defineTool({
        name: "t",
        description: "d",
        handler: () => "",
        inputSchema,
      } as NativeTool);
    const refused = (message: string, hint?: string) =>
      expect.objectContaining({
        code: "config_invalid",
        message: expect.stringContaining(message) as string,
        ...(hint === undefined ? {} : { hint: expect.stringContaining(hint) as string }),
      }) as Error;
    for (const schema of [z3.object({ a: z3.number() }), mini.object({ a: mini.number() })])
      expect(define(schema)).toThrow(
        refused("a schema of zod that carries no JSON Schema", "z.toJSONSchema(schema)"),
      );
    expect(define(z.object({ at: z.date() }))).toThrow(
      refused("Date cannot be represented in JSON Schema"),
    );
    const typed = () =>
      session.defineTool({
        name: "t",
        description: "d",
        // @ts-expect-error -- zod 3 carries no JSON Schema
        inputSchema: z3.object({ a: z3.number() }),
        handler: () => "",
      });
    expect(typed).toThrow(refused("carries no JSON Schema"));
    expect(session.tools()).toEqual([]);
  });

  it("a person is asked about the arguments as they were given; children have the tool, too", async () => {
    const { human, questions } = scriptedHuman("once", "once");
    await using host = await createHost({ config: false });
    const session = host.session({ level: "trusted", human });
    session.defineTool({
      name: "order",
      description: "Orders",
      needsConsent: true,
      inputSchema: orderSchema,
      handler: ({ count }) => `${count}`,
    });
    const child = session.child({ tools: ["order"] });
    for (const caller of [session, child])
      expect(await caller.call("order", { item: "tea" })).toMatchObject({ ok: true, text: "1" });
    expect(questions).toMatchObject([
      { arguments: { item: "tea" } },
      { arguments: { item: "tea" } },
    ]);
  });
});
