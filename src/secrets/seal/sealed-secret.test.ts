import { randomBytes } from "node:crypto";
import { inspect } from "node:util";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { takeKey } from "./envelope.ts";
import { newDataKey, newPlace, parseKeyRow, unwrapDataKey, wrapDataKey } from "./key-row.ts";
import { type DataKey, openSecret, sealSecret } from "./sealed-secret.ts";

function newKey(): DataKey {
  const { id, bytes } = newDataKey();
  return { id, key: takeKey(bytes) };
}

/** The text with one character changed, at every position, in several ways. */
function* changesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 1)
    for (const flipped of [1, 2, 4, 8, 16, 32, 64])
      yield (
        text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ flipped) + text.slice(at + 1)
      );
}

const unavailable = expect.objectContaining({ code: "secret_unavailable" });

function opened(key: DataKey, name: string, envelope: string): unknown {
  try {
    return { value: openSecret(key, name, envelope) };
  } catch (error) {
    return error;
  }
}

describe("a sealed secret", () => {
  const key = newKey();
  const value = "ghp_0123456789";
  const envelope = sealSecret(key, "sign-in/a", value);

  it("has the form v1|key|iv|ciphertext|tag, and another one each time", () => {
    expect(envelope).toMatch(/^v1\|[\w-]{16}\|[\w-]{16}\|[\w-]+\|[\w-]{22}$/);
    expect(sealSecret(key, "sign-in/a", value)).not.toBe(envelope);
    expect(envelope).not.toContain(Buffer.from(value).toString("base64url"));
  });

  it("gives back any string under any name", () => {
    // Halves of surrogate pairs among them.
    const anyText = fc.string({
      unit: fc.nat({ max: 0xff_ff }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(anyText, anyText, (name, text) => {
        expect(openSecret(key, name, sealSecret(key, name, text))).toBe(text);
      }),
    );
  });

  it("I7: is refused when a single bit of it is another, wherever", () => {
    let count = 0;
    for (const changed of changesOf(envelope)) {
      expect(opened(key, "sign-in/a", changed)).toEqual(unavailable);
      count += 1;
    }
    expect(count).toBe(envelope.length * 7);
  });

  it("I7: is refused when it is cut or grows", () => {
    for (let end = 0; end < envelope.length; end += 1)
      expect(opened(key, "sign-in/a", envelope.slice(0, end))).toEqual(unavailable);
    for (const more of ["|", "=", "A", " ", "|AAAA"])
      expect(opened(key, "sign-in/a", envelope + more)).toEqual(unavailable);
  });

  it("I7: is refused under another name, another key, and the id of another key", () => {
    expect(opened(key, "sign-in/b", envelope)).toEqual(unavailable);
    expect(opened(newKey(), "sign-in/a", envelope)).toEqual(unavailable);
    expect(opened({ ...newKey(), id: key.id }, "sign-in/a", envelope)).toEqual(unavailable);
    expect(opened({ ...key, id: newKey().id }, "sign-in/a", envelope)).toEqual(unavailable);
  });

  it("I7: of an unknown version is refused as such", () => {
    const later = envelope.replace("v1", "v2");
    expect(opened(key, "sign-in/a", later)).toMatchObject({
      code: "secret_unavailable",
      details: { problem: "version" },
      hint: expect.stringContaining("update plugboard") as string,
    });
  });

  it("shows neither key nor value in its errors", () => {
    const error = opened(key, "sign-in/b", envelope);
    const shown = inspect([error, key], { depth: 9, showHidden: true }) + JSON.stringify(error);
    expect(shown).not.toContain(value);
    expect(shown).not.toContain(key.key.export().toString("hex"));
  });
});

describe("the key row", () => {
  const holderKey = takeKey(randomBytes(32));
  const made = newDataKey();
  const held = { kind: "file", place: newPlace() } as const;
  const row = wrapDataKey(made, held, holderKey);

  function unwrapped(text: string): unknown {
    try {
      return unwrapDataKey(parseKeyRow(text), holderKey);
    } catch (error) {
      return error;
    }
  }

  it("gives the data key back to the key of its holder, and to no other", () => {
    expect(unwrapped(row)).toEqual(made.bytes);
    expect(unwrapDataKey(parseKeyRow(row), takeKey(randomBytes(32)))).toBeUndefined();
  });

  it("says where its key is held without one", () => {
    expect(parseKeyRow(row)).toMatchObject({ ...held, dataKeyId: made.id });
  });

  it("I7: gives nothing when a single bit of it is another, wherever", () => {
    for (const changed of changesOf(row)) {
      const found = unwrapped(changed);
      // Undefined: the row names another key than the one that is tried.
      if (found !== undefined) expect(found).toEqual(unavailable);
    }
  });

  it("names no file outside of its folder", () => {
    for (const place of ["../../../../etc/passwd", "", "a/b", `${held.place}\0`, `${held.place}/`])
      expect(unwrapped(row.replace(held.place, place))).toEqual(unavailable);
  });
});
