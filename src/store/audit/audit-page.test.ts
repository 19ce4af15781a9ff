import { createHash } from "node:crypto";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { AuditEntry } from "./audit-entry.ts";
import { AuditPageDraft, hashOf, maxCallIdChars } from "./audit-page-draft.ts";
import { type CallHead, maxEntriesPerPage, readAuditPage } from "./audit-page.ts";

const text = fc.string({ unit: "binary", maxLength: maxCallIdChars });

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
        fc.record({ callId: text, of: fc.nat(2), hasEffects: fc.boolean(), args: text }),
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
            return { at, ...wellFormed(item), detail: { index } };
          }
          const of = callHeads[item.of] as CallHead;
          const { callId, hasEffects, args } = item;
          const argumentsText = JSON.stringify(args);
          draft.addCall({ at, head: of, callId, durationMs: 12.34, hasEffects, argumentsText });
          const { agent, server, tool } = wellFormed({ ...of });
          return {
            at,
            type: "call",
            agent,
            ...(server !== undefined && { server }),
            tool,
            code: "ok",
            detail: {
              consent: "grant",
              callId: callId.toWellFormed(),
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
    const draft = new AuditPageDraft();
    for (let index = 0; index < 5; index += 1) {
      draft.add({ at: 1, type: "x", detail: { index } });
      draft.addCall(call(String(index)));
    }
    const page = draft.take();
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 });
    fc.assert(
      fc.property(fc.nat(page.content.length), damages, (length, changes) => {
        const content = page.content.slice(0, length);
        for (const [place, byte] of changes) if (length > 0) content[place % length] = byte;
        expect([...readAuditPage({ seq: 1, ...page, content })].length).toBeLessThanOrEqual(length);
      }),
    );
    // The last record is a call: of a part of it no row is made.
    const cut = { seq: 1, ...page, content: page.content.slice(0, -1) };
    expect([...readAuditPage(cut)]).toEqual([...readAuditPage({ seq: 1, ...page })].slice(0, -1));
    const content = null as unknown as Uint8Array;
    expect([...readAuditPage({ seq: 1, ...page, content })]).toEqual([]);
  });
});

function idsOf(page: ReturnType<AuditPageDraft["take"]>): readonly unknown[] {
  return [...readAuditPage({ seq: 1, ...page })].map(({ detail }) => detail?.["callId"]);
}

function sha256(argumentsText: string): string {
  return createHash("sha256").update(argumentsText).digest("base64url").slice(0, 24);
}

/** As texts are after they were UTF-8. */
function wellFormed<T extends object>(members: T): T {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === "string" ? value.toWellFormed() : value,
    ]),
  ) as T;
}
