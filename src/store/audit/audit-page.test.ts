import { createHash } from "node:crypto";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { hostileCharacters } from "../../../tests/fixtures/store/hostile-characters.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { AuditPageDraft, hashOf, maxCallIdChars } from "./audit-page-draft.ts";
import { type CallHead, maxEntriesPerPage, readAuditPage } from "./audit-page.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: maxCallIdChars }),
  fc.string({ unit: fc.constantFrom(...hostileCharacters), maxLength: maxCallIdChars }),
);
/** Ids as the host makes them, with the numbers that begin or end a page of digits, and anything else. */
const callIds = fc.oneof(
  fc.nat().map((number) => `host-${number}`),
  fc.constantFrom("host-0", "host-007", "host-", "host-9999999999999999", "other-5", "5", ""),
  text,
);

const head: CallHead = { agent: "a", server: "s", tool: "t", consent: "yolo" };

function call(callId: string, changes: Partial<Parameters<AuditPageDraft["addCall"]>[0]> = {}) {
  const argumentsText = JSON.stringify({ callId });
  return { at: 1, head, callId, durationMs: 1, hasEffects: true, argumentsText, ...changes };
}

describe("a page of the audit trail", () => {
  it("gives back what was added, in the order it was added, whatever the texts are", () => {
    const heads = fc.record({
      agent: text,
      server: fc.option(text, { nil: undefined }),
      tool: text,
    });
    const entries = fc.record({ type: text, agent: text, code: text, tool: text });
    const items = fc.array(
      fc.oneof(
        fc.record({ callId: callIds, of: fc.nat(2), hasEffects: fc.boolean(), args: text }),
        entries,
      ),
      { maxLength: 100 },
    );
    fc.assert(
      fc.property(fc.tuple(heads, heads, heads), items, (givenHeads, given) => {
        const callHeads = givenHeads.map((one): CallHead => ({ ...one, consent: "grant" }));
        const draft = new AuditPageDraft();
        const expected = given.map((item, index) => {
          const at = 1_700_000_000_000 + index;
          if ("type" in item) {
            draft.add({ at, ...item, detail: { index } });
            return { at, ...item, detail: { index } };
          }
          const of = callHeads[item.of] as CallHead;
          const { callId, hasEffects, args } = item;
          const argumentsText = JSON.stringify(args);
          draft.addCall({ at, head: of, callId, durationMs: 12.34, hasEffects, argumentsText });
          const { agent, server, tool } = of;
          return {
            at,
            type: "call",
            agent,
            ...(server !== undefined && { server }),
            tool,
            code: "ok",
            detail: {
              consent: "grant",
              callId,
              durationMs: 12.3,
              sideEffects: hasEffects ? "possible" : "none",
              argumentsHash: sha256(argumentsText),
            },
          };
        });
        const rows = [...readAuditPage({ seq: 7, ...draft.take() })];
        expect(rows).toEqual(
          expected.map((row, index) => ({ seq: 7 * maxEntriesPerPage + index, ...row })),
        );
      }),
    );
  });

  it("is taken as it is: the next one knows nothing of it", () => {
    const draft = new AuditPageDraft();
    draft.addCall(call("1", { at: 5 }));
    draft.addCall(call("2", { at: 3 }));
    const first = draft.take();
    expect(first).toMatchObject({ entries: 2, first_at: 3, last_at: 5 });
    draft.addCall(call("3", { at: 9 }));
    const second = draft.take();
    expect(second).toMatchObject({ entries: 1, first_at: 9, last_at: 9 });
    expect(idsOf(first)).toEqual(["1", "2"]);
    expect(idsOf(second)).toEqual(["3"]);
  });

  it("hashes arguments of any length, together or alone, to the beginning of their SHA-256", () => {
    const draft = new AuditPageDraft();
    const texts = [1, 100, 3_000, 100, 1_000_000].flatMap((length) =>
      Array.from({ length: 20 }, (_, index) => `"${String(index).repeat(length)}é"`),
    );
    for (const argumentsText of texts) draft.addCall(call("id", { argumentsText }));
    const rows = [...readAuditPage({ seq: 1, ...draft.take() })];
    expect(rows.map(({ detail }) => detail?.["argumentsHash"])).toEqual(texts.map(sha256));
    expect(texts.map(hashOf)).toEqual(texts.map(sha256));
  });

  it("is full after so many entries, and grows as they need it", () => {
    const draft = new AuditPageDraft();
    for (let index = 0; index < maxEntriesPerPage; index += 1) {
      expect(draft.isFull).toBe(false);
      draft.addCall(call("😀"));
    }
    expect(draft.isFull).toBe(true);
    expect(idsOf(draft.take())).toHaveLength(maxEntriesPerPage);
  });

  it("STO-08: with more entries than a page has, no row gets the number of another page's", () => {
    const draft = new AuditPageDraft();
    for (let index = 0; index <= maxEntriesPerPage; index += 1) draft.addCall(call("c"));
    const numbers = [...readAuditPage({ seq: 3, ...draft.take() })].map(({ seq }) => seq);
    expect(numbers).toHaveLength(maxEntriesPerPage);
    expect(numbers.at(-1)).toBe(4 * maxEntriesPerPage - 1);
  });

  it("an entry that has no JSON is written without its details, one with too much of it cut", () => {
    const draft = new AuditPageDraft();
    const details: AuditEntry["detail"][] = [{ a: 1n }, { a: "x".repeat(5_000), b: 1 }, undefined];
    for (const detail of details) draft.add({ at: Number.NaN, type: "x", detail });
    const cut = { a: `${"x".repeat(255)}…`, b: 1, omitted: { a: 4_745 } };
    expect([...readAuditPage({ seq: 0, ...draft.take() })]).toEqual([
      { seq: 0, at: 0, type: "x", detail: { omitted: "not JSON" } },
      { seq: 1, at: 0, type: "x", detail: cut },
      { seq: 2, at: 0, type: "x", detail: {} },
    ]);
  });

  it("STO-08: damaged anywhere, it gives rows or none, and never an error", () => {
    const page = draftOfFive().take();
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.constantFrom("lines", "heads"),
        fc.nat(page.lines.length),
        damages,
        (part, length, changes) => {
          const bytes = page[part].slice(0, length);
          for (const [place, byte] of changes) if (length > 0) bytes[place % length] = byte;
          const rows = [...readAuditPage({ seq: 1, ...page, [part]: bytes })];
          expect(rows.length).toBeLessThanOrEqual(part === "lines" ? length : page.entries);
        },
      ),
    );
  });

  it("STO-08: a damaged line costs its own row; the others keep their numbers", () => {
    const page = draftOfFive().take();
    const whole = [...readAuditPage({ seq: 1, ...page })];
    const lines = page.lines.slice();
    const third = Buffer.from(lines).indexOf("\n", Buffer.from(lines).indexOf("\n", 2) + 1) + 1;
    lines[third] = 0x7b;
    const rows = [...readAuditPage({ seq: 1, ...page, lines })];
    expect(rows).toEqual(whole.filter((_, index) => index !== 2));
  });

  it("is turned before its list of heads is long", () => {
    const draft = new AuditPageDraft();
    let heads = 0;
    for (; !draft.isFull; heads += 1) draft.addCall(call("c", { head: { ...head } }));
    expect(heads).toBe(256);
    draft.take();
    const agent = "x".repeat(100_000);
    for (heads = 0; !draft.isFull; heads += 1)
      draft.addCall(call("c", { head: { ...head, agent } }));
    expect(heads).toBe(3);
  });

  it("has times that every database can show, and durations that are JSON", () => {
    const draft = new AuditPageDraft();
    const times = [-1e300, -5.5, 0, 1e15, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
    for (const at of times) draft.addCall(call("c", { at, durationMs: Number.NaN }));
    for (const durationMs of [0, 0.004, 0.996, 1, 9.96, 98.96, 99.96, 100.4, 1e9])
      draft.addCall(call("c", { durationMs }));
    const rows = [...readAuditPage({ seq: 0, ...draft.take() })];
    const years = [-62_135_596_800_000, 253_402_300_799_999] as const;
    expect(rows.slice(0, times.length).map(({ at }) => at)).toEqual([
      years[0],
      -5,
      0,
      years[1],
      years[1],
      0,
    ]);
    expect(rows.map(({ detail }) => detail?.["durationMs"])).toEqual([
      ...times.map(() => null),
      0,
      0,
      1,
      1,
      10,
      99,
      100,
      100,
      1e9,
    ]);
  });
});

function draftOfFive(): AuditPageDraft {
  const draft = new AuditPageDraft();
  for (let index = 0; index < 5; index += 1) {
    draft.add({ at: 1, type: "x", detail: { index } });
    draft.addCall(call(String(index)));
  }
  return draft;
}

function idsOf(page: ReturnType<AuditPageDraft["take"]>): readonly unknown[] {
  return [...readAuditPage({ seq: 1, ...page })].map(({ detail }) => detail?.["callId"]);
}

function sha256(argumentsText: string): string {
  return createHash("sha256").update(argumentsText).digest("base64url").slice(0, 24);
}
