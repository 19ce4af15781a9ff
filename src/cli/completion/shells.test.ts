import { describe, expect, it } from "vitest";

import { candidate } from "./candidates.ts";
import { shellDialects } from "./shells.ts";

/** The word breaks that bash has unless somebody changes them. */
const breaks = " \t\n\"'><=;|&(:";
const { read, write } = shellDialects.bash;

describe("the line that bash asks with", () => {
  it.each([
    ["plugboard ", [""]],
    ["plugboard call", ["call"]],
    ["plugboard  call\tdemo.add  a=", ["call", "demo.add", "a="]],
    ["A=1 B='2 3' plugboard get d", ["get", "d"]],
    [`plugboard call 'my server.x' "a b`, ["call", "my server.x", "a b"]],
    [String.raw`plugboard get my\ server`, ["get", "my server"]],
    [String.raw`plugboard get 'a\b' "c\"d"`, ["get", String.raw`a\b`, 'c"d']],
    ["plugboard get ''", ["get", ""]],
    ["plugboard get \\", ["get", ""]],
    ["", [""]],
  ])("%j is read as a shell reads it", (line, words) => {
    expect(read([breaks, line])).toEqual(words);
  });

  it.each([
    ["plugboard get m", "my server", String.raw`my\ server`],
    ["plugboard call x a=", "a=$(touch x)", String.raw`\$\(touch\ x\)`],
    ["plugboard call x a:=", "a:=`id`", "\\`id\\`"],
    ["plugboard call x 'a=", "a=plain", "a=plain"],
    ["plugboard call x a='p", "a=plain", "plain"],
    ["plugboard get n", "naïve", "naïve"],
    ["plugboard get ", "~root;id\\", String.raw`\~root\;id\\`],
  ])("%j is completed by %j as %j", (line, value, reply) => {
    expect(write([candidate(value)], [breaks, line])).toEqual([reply]);
  });

  it("inside of quotes offers only what needs none", () => {
    const offered = ["a=plain", "a=it's", "a=$(x)"].map((value) => candidate(value));
    expect(write(offered, [breaks, "plugboard call x 'a="])).toEqual(["a=plain"]);
  });

  it("keeps whole words where = is no break", () => {
    expect(write([candidate("a=plain")], [" ", "plugboard call x a=p"])).toEqual(["a=plain"]);
  });
});

describe("the scripts", () => {
  it.each(Object.entries(shellDialects))("%s evaluates no answer", (_, { script }) => {
    expect(script).not.toMatch(/\beval\b|compgen|\$\(plugboard|`/);
    expect(script).toContain("command plugboard __complete");
  });
});
