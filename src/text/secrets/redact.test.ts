import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { redactValue } from "./redact-value.ts";
import { credentialsIn, findable, looksLikeSecret, redact } from "./redact.ts";

// Put together here, so that no scanner takes this file for a leak.
const letters = "abcdefghijABCDEFGHIJ";
const digits = "0123456789";
const shapes: readonly string[] = [
  ...["ghp", "gho", "ghu", "ghs", "ghr"].map((kind) => `${kind}_${letters}`),
  `github_pat_${letters}`,
  `sk-${letters}`,
  `sk-ant-api03-${letters}`,
  ...["xoxa", "xoxb", "xoxp", "xoxr", "xoxs"].map((kind) => `${kind}-${digits}-${letters}`),
  `AKIA${digits}ABCDEF`,
  `eyJ${letters}.eyJ${letters}.${letters}`,
  `eyJ${letters}.eyJ${letters}.`,
];

const assignedWords: readonly string[] = [
  "apikey",
  "api_key",
  "api-key",
  "API_KEY",
  "token",
  "access_token",
  "secret",
  "client_secret",
  "password",
  "passwd",
  "authorization",
];

const memberWords: readonly string[] = [
  "apikey",
  "apiKey",
  "api_key",
  "x-api-key",
  "token",
  "refreshToken",
  "secret",
  "passwd",
  "password",
  "passwordHash",
  "credential",
  "credentials",
  "authorization",
  "cookie",
  "Set-Cookie",
  "privatekey",
  "privateKey",
  "private_key",
  "private-key",
];

describe("a credential in a text", () => {
  it("ENV-12: is found whatever else the text has or lacks", () => {
    const pieces = fc.constantFrom(
      ...shapes,
      ...assignedWords.flatMap((word) => [word, word.toUpperCase()]),
      "Bearer",
      "basic",
      "?key",
      "&sig",
      "https://",
      "user:word1",
      "/",
      "@",
      " ",
      "=",
      ": ",
      letters,
      digits,
      '"',
      "a",
      "é",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        // A mark that belongs to nothing makes no credential of what is none.
        expect(redact(`${text} @`)).toBe(`${redact(text)} @`);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(shapes)("ENV-12: is known by its shape: %s", (secret) => {
    expect(redact(secret)).toBe("[redacted]");
    expect(redact(`see "${secret}", please`)).toBe('see "[redacted]", please');
  });

  it.each(["Bearer", "bearer", "Basic", "BASIC"])("ENV-12: is known by %s before it", (scheme) => {
    expect(redact(`sent ${scheme} abc+/=._~-9`)).toBe(`sent ${scheme} [redacted]`);
    expect(redact(`sent ${scheme}   abcdef`)).toBe(`sent ${scheme}   [redacted]`);
    expect(redact(`Authorization: ${scheme} abc+/=._~-9, kept`)).toBe(
      `Authorization: ${scheme} [redacted], kept`,
    );
  });

  it.each(assignedWords)("ENV-12: is known by its name: %s", (name) => {
    expect(redact(`${name}=abcd`)).toBe(`${name}=[redacted]`);
    expect(redact(`${name} : abcd; rest`)).toBe(`${name} : [redacted]; rest`);
    expect(redact(`{"${name}":"abcd","n":1}`)).toBe(`{"${name}":"[redacted]","n":1}`);
    expect(redact(`{'${name}': 'abcd'}`)).toBe(`{'${name}': '[redacted]'}`);
  });

  it.each(["https://user:pass@host/", "postgres://user@host/db", "git+ssh://x:y@host"])(
    "ENV-12: is known by where it stands in an address: %s",
    (address) => {
      const [scheme] = address.split("://") as [string];
      expect(redact(address)).toBe(`${scheme}://[redacted]@${address.split("@")[1]}`);
    },
  );

  it.each([
    "key",
    "sig",
    "signature",
    "auth",
    "pass",
    "pwd",
    "jwt",
    "X-Amz-Signature",
    "sub.key",
    "a_b-key",
  ])("ENV-12: is known by its name in the query of an address: %s", (name) => {
    expect(redact(`https://host/a?${name}=abcd`)).toBe(`https://host/a?${name}=[redacted]`);
    expect(redact(`https://host/a?n=1&${name}=ab%2Fcd#top`)).toBe(
      `https://host/a?n=1&${name}=[redacted]#top`,
    );
    expect(redact(`<a href="/a?${name}=abcd&n=1">`)).toBe(`<a href="/a?${name}=[redacted]&n=1">`);
  });

  it.each([
    "TOKEN=${TOKEN}",
    "--api-key=${env:API_KEY}",
    "https://h.example/?token=${TOKEN}&x=1",
    "postgres://app:${PG_TOKEN}@db/shop",
    "https://${USER}:${env:PASS}@host/",
    "https://${TOKEN}@host/",
  ])("ENV-07: is not what only refers to it: %s", (text) => {
    expect(redact(text)).toBe(text);
    expect(redact(`${text} TOKEN=hunter22`)).toBe(`${text} TOKEN=[redacted]`);
  });

  it("ENV-12: is masked though it holds the name of a scheme", () => {
    expect(redact("password=isBearer1")).toBe("password=[redacted]");
    expect(redact("?key=xBasic-1")).toBe("?key=[redacted]");
  });

  it("ENV-12: is masked wherever its value is known and not too short", () => {
    expect(redact("four then five5", ["four", "five5", "the"])).toBe("[redacted] then [redacted]");
    expect(findable(["abc", "abcd", "abcdef"])).toEqual(["abcdef", "abcd"]);
  });

  it("ENV-12: is found where it would be masked, and nowhere else", () => {
    expect(credentialsIn("Authorization: Bearer abcdef then token=abcd")).toEqual([
      "abcdef",
      "abcd",
    ]);
    expect(credentialsIn("nothing here")).toEqual([]);
    // What one pattern has masked is no credential for the next one.
    expect(credentialsIn(`token=ghp_${letters}`)).toEqual([`ghp_${letters}`]);
  });

  it.each([...shapes, "--token=abcd", "https://user:pass@host/"])(
    "ENV-12: is recognised in a word of a command line: %s",
    (word) => {
      expect(looksLikeSecret(word)).toBe(true);
    },
  );

  it.each(["", "serve", "0123456789abcdefghi", "--port=8080", "@scope/package@1.2.3", "-y"])(
    "is not suspected in a word of a command line: %j",
    (word) => {
      expect(looksLikeSecret(word)).toBe(false);
    },
  );

  it.each([
    "ghp_short",
    "sk-short",
    "xoxz-0123456789",
    "AKIA0123",
    "eyJhbGciOiJIUzI1NiJ9",
    "Bearer of news",
    "a tokenizer",
    "token = abc",
    "https://host/a@b",
    "https://host/a?key=abc",
    "https://host/a?monkey=abcd",
    "a key=abcd",
    "https://host/a?key=${env:KEY}&sig=${SIG}",
  ])("is not suspected in %s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("a member of an object", () => {
  it.each(memberWords)("ENV-12: is masked by its name: %s", (name) => {
    const { value, secrets } = redactValue({ [name]: "x", a: "y" }, { maxText: 100 });
    expect(value).toEqual({ [name]: "[redacted]", a: "y" });
    expect(secrets).toEqual(["x"]);
  });

  it.each(["title", "author", "keyboard", "path"])("is shown by its name: %s", (name) => {
    expect(redactValue({ [name]: "x" }, { maxText: 100 }).value).toEqual({ [name]: "x" });
  });
});
