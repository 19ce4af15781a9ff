import { describe, expect, it } from "vitest";

import { expandTemplate, templateVariables } from "./uri-template.ts";

// Values and results of RFC 6570, sections 3.2.2 to 3.2.9.
const values = {
  var: "value",
  hello: "Hello World!",
  half: "50%",
  path: "/foo/bar",
  who: "fred",
  empty: "",
  base: "http://example.com/home/",
  x: "1024",
  y: "768",
};

describe("a URI template", () => {
  it.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{x,y}", "1024,768"],
    ["?{x,empty}", "?1024,"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{#var}", "#value"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["foo{#empty}", "foo#"],
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["X{.undef}", "X"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/var:1,var}", "/v/value"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    ["{?var:3}", "?var=val"],
    ["file:///plain", "file:///plain"],
    ["not {a template}", "not {a template}"],
  ])("%s becomes %s", (template, expected) => {
    expect(expandTemplate(template, values)).toBe(expected);
  });

  it("tells its variables, and which of them an address needs", () => {
    expect(templateVariables("a://{id}/{+path*}{?page,id}{#part:3}")).toEqual([
      { name: "id", isRequired: true },
      { name: "path", isRequired: true },
      { name: "page", isRequired: false },
      { name: "part", isRequired: false },
    ]);
    expect(templateVariables("file:///plain")).toEqual([]);
  });

  it("writes every character of a value, also half of a pair", () => {
    expect(expandTemplate("{v}", { v: "ä€😀" })).toBe("%C3%A4%E2%82%AC%F0%9F%98%80");
    expect(expandTemplate("{v}", { v: "\uD800" })).toBe("%EF%BF%BD");
  });
});
