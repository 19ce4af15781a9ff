import { assert, nat, property, string } from "fast-check";
import { describe, expect, it } from "vitest";

import { canonicalHash, canonicalJson } from "./canonical-hash.ts";
import { closest } from "./closest.ts";
import { looksLikeSecret, redact } from "./secrets/redact.ts";
import { slug } from "./slug.ts";
import { truncate, truncateBytes } from "./truncate.ts";
import { neutralize, neutralizeLine } from "./untrusted/neutralize.ts";

describe("neutralize", () => {
  it("RES-18: escape sequences go and other control characters become visible", () => {
    expect(neutralize("\u001B[31mred\u001B[0m")).toBe("red");
    expect(neutralize("\u001B]8;;http://evil\u0007link\u001B]8;;\u0007")).toBe("link");
    expect(neutralize("\u001B]0;title\u001B\\text")).toBe("text");
    expect(neutralize("a\u0008\u009Bb")).toBe("a��b");
    expect(neutralize("tab\tand\nline")).toBe("tab\tand\nline");
  });

  it("RES-18: text that reads backwards or not at all is marked", () => {
    expect(neutralize("user\u202Etxt.exe")).toBe("user�txt.exe");
    expect(neutralize("zero\u200Bwidth")).toBe("zero�width");
    expect(neutralize(`x${String.fromCodePoint(0xe0041)}y`)).toBe("x�y");
  });

  it("RES-18: no input leaves an escape, a C1 or a bidirectional control behind", () => {
    // oxlint-disable-next-line no-control-regex -- these must not survive
    const dangerous = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E]/u;
    assert(
      property(string({ unit: "binary" }), (text) => {
        expect(neutralize(text)).not.toMatch(dangerous);
        expect(neutralizeLine(text)).not.toMatch(/[\r\n\t]/);
      }),
    );
  });
});

describe("redact", () => {
  it.each([
    ["token ghp_0123456789abcdefghijABCDEFGHIJ now", "token [redacted] now"],
    ["Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"],
    ["api_key=supersecret&x=1", "api_key=[redacted]&x=1"],
    ['{"password": "hunter22"}', '{"password": "[redacted]"}'],
    ["postgres://user:pass@host/db", "postgres://[redacted]@host/db"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "[redacted]"],
    ["nothing to see", "nothing to see"],
  ])("ENV-12: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it("ENV-12: known values go wherever they stand, the longest first", () => {
    expect(redact("value abcd and abcdef", ["abcd", "abcdef"])).toBe(
      "value [redacted] and [redacted]",
    );
    expect(redact("a b c", ["a"])).toBe("a b c");
  });

  it.each([
    "eyJ-",
    "a://",
    "token ",
    "Bearer ",
    "sk-",
    "xoxb-",
    "\u001B]",
    "ghp_",
    " \t",
    "api_key=",
  ])("a megabyte of %j takes time in proportion, not for ever", (unit) => {
    const text = unit.repeat(1_000_000 / unit.length);
    expect(redact(text).length).toBeGreaterThan(0);
    expect(neutralizeLine(text).length).toBeGreaterThanOrEqual(0);
  });

  it("CFG-37: credential-looking words are recognised", () => {
    expect(looksLikeSecret("--token=abcdef")).toBe(true);
    expect(looksLikeSecret("--verbose")).toBe(false);
  });
});

describe("truncate", () => {
  it("cuts with a mark and never inside a character", () => {
    expect(truncate("hello", 5)).toBe("hello");
    expect(truncate("hello!", 5)).toBe("hell…");
    expect(truncate("ab😀cd", 4)).toBe("ab…");
  });

  it("RES-17: bytes are counted in UTF-8 and a character is kept whole or not at all", () => {
    expect(truncateBytes("héllo", 2)).toEqual({ text: "h", cut: true });
    expect(truncateBytes("héllo", 3)).toEqual({ text: "hé", cut: true });
    expect(truncateBytes("héllo", 6)).toEqual({ text: "héllo", cut: false });
    assert(
      property(string({ unit: "grapheme" }), nat(40), (text, limit) => {
        const { text: kept, cut } = truncateBytes(text, limit);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(Math.max(limit, cut ? 0 : Infinity));
        expect(text.startsWith(kept)).toBe(true);
      }),
    );
  });
});

describe("closest", () => {
  it("finds slips of the hand, halves of names, and nothing for strangers", () => {
    expect(closest("gihub", ["demo", "files", "github"])).toEqual(["github"]);
    expect(closest("create_isue", ["create_issue", "list_issues", "x"])[0]).toBe("create_issue");
    expect(closest("ad", ["add", "echo", "get_time"])).toEqual(["add"]);
    expect(closest("zzzzzz", ["add", "echo"])).toEqual([]);
    expect(closest("read", ["read_file", "read_text", "read_media", "read_many"])).toHaveLength(3);
  });
});

describe("canonical hash", () => {
  it("depends on the value, not on the order of its keys", () => {
    expect(canonicalJson({ b: [1, { d: 1, c: 2 }], a: null })).toBe(
      '{"a":null,"b":[1,{"c":2,"d":1}]}',
    );
    expect(canonicalHash({ a: 1, b: 2 })).toBe(canonicalHash({ b: 2, a: 1 }));
    expect(canonicalHash({ a: 1 })).not.toBe(canonicalHash({ a: "1" }));
    expect(canonicalJson({ a: undefined })).toBe("{}");
  });
});

describe("slug", () => {
  it.each([
    ["GitHub API", "github-api"],
    ["my_server", "my_server"],
    ["  évil/../x ", "vil-x"],
    ["日本", ""],
  ])("%s becomes %s", (name, expected) => {
    expect(slug(name)).toBe(expected);
  });
});
