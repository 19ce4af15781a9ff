import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BinaryPageDraft } from "../../../tests/fixtures/store/binary-page-draft.ts";
import { hostileCharacters } from "../../../tests/fixtures/store/hostile-characters.ts";
import { AuditPageDraft, hashOf } from "./audit-page-draft.ts";
import { type AuditPage, type CallHead, maxEntriesPerPage, readAuditPage } from "./audit-page.ts";
import { type BinaryPage, fromBinaryPage } from "./binary-page.ts";

const text = fc.string({ unit: fc.constantFrom(...hostileCharacters), maxLength: 20 });
const head: CallHead = { agent: "a", server: "s", tool: "t", consent: "yolo" };

function call(callId: string) {
  return { at: 1, head, callId, durationMs: 1, hasEffects: true, argumentsText: callId };
}

function rowsOf(page: AuditPage) {
  return [...readAuditPage({ seq: 7, ...page })];
}

describe("a page of version 2", () => {
  it("has as JSON the entries it had, in their order, whatever the texts are", () => {
    const heads = fc.record({
      agent: text,
      server: fc.option(text, { nil: undefined }),
      tool: text,
      consent: text,
    });
    const items = fc.array(
      fc.oneof(
        fc.record({ callId: text, of: fc.nat(2), hasEffects: fc.boolean(), argumentsText: text }),
        fc.record({ type: text, agent: text, code: text, detail: fc.dictionary(text, text) }),
      ),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(fc.tuple(heads, heads, heads), items, (callHeads, given) => {
        const binary = new BinaryPageDraft();
        const expected = new AuditPageDraft();
        for (const [index, item] of given.entries()) {
          const at = 1_700_000_000_000 + index;
          if ("type" in item) for (const draft of [binary, expected]) draft.add({ at, ...item });
          else {
            const { of, ...rest } = item;
            const one = { at, head: callHeads[of] as CallHead, durationMs: 12.34, ...rest };
            binary.addCall(one);
            // Version 2 wrote ids as UTF-8, which has no lone surrogates.
            expected.addCall({ ...one, callId: rest.callId.toWellFormed() });
          }
        }
        const page = fromBinaryPage(binary.take());
        expect(rowsOf(page)).toEqual(rowsOf(expected.take()));
        expect(page).toMatchObject({ entries: given.length, isWhole: true });
      }),
    );
  });

  it("keeps its times, which may be those of a clock that jumped", () => {
    const binary = new BinaryPageDraft();
    for (const at of [5, 3, 9]) binary.addCall({ ...call("c"), at });
    const page = fromBinaryPage(binary.take());
    expect(page).toMatchObject({ first_at: 3, last_at: 9 });
    expect(rowsOf(page).map(({ at }) => at)).toEqual([5, 3, 9]);
    expect(rowsOf(page)[0]?.detail).toMatchObject({ argumentsHash: hashOf("c") });
  });

  it("with as many entries as a page can have, and one more, keeps within its numbers", () => {
    const binary = new BinaryPageDraft();
    for (let index = 0; index <= maxEntriesPerPage; index += 1) binary.addCall(call("c"));
    const page = fromBinaryPage(binary.take());
    expect(rowsOf(page)).toHaveLength(maxEntriesPerPage);
    expect(page.isWhole).toBe(false);
  });

  it("STO-08: damaged anywhere, it gives what is before the damage, and never an error", () => {
    const binary = new BinaryPageDraft();
    for (let index = 0; index < 5; index += 1) {
      binary.add({ at: 1, type: "x", detail: { index } });
      binary.addCall(call(String(index)));
    }
    const page = binary.take();
    const damages = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 });
    fc.assert(
      fc.property(fc.nat(page.content.length), damages, (length, changes) => {
        const content = page.content.slice(0, length);
        for (const [place, byte] of changes) if (length > 0) content[place % length] = byte;
        const converted = fromBinaryPage({ ...page, content });
        expect(() => JSON.parse(Buffer.from(converted.lines).toString()) as unknown).not.toThrow();
        expect(converted.isWhole).toBe(rowsOf(converted).length === page.entries);
      }),
    );
    // The last record is a call: of a part of it no row is made.
    const cut: BinaryPage = { ...page, content: page.content.slice(0, -1) };
    expect(rowsOf(fromBinaryPage(cut))).toEqual(rowsOf(fromBinaryPage(page)).slice(0, -1));
    const content = null as unknown as Uint8Array;
    expect(rowsOf(fromBinaryPage({ ...page, content }))).toEqual([]);
  });
});
