// @ts-check

/** Names of tools that harm whoever puts them into something else, by what that is. @type {Readonly<Record<string, string>>} */
export const badNames = {
  nothing: "",
  blank: " ",
  "line break": "send\nX-Injected: 1",
  "header injection": "send\r\nX-Injected: 1",
  "terminal escape": "\u001B[2Jsend",
  "too long": "x".repeat(10_000),
  path: "../../../../tmp/plugboard-pwned",
  SQL: "'; DROP TABLE audit; DROP TABLE pins; --",
  shell: "$(touch plugboard-pwned)`touch plugboard-pwned`;touch plugboard-pwned",
  option: "--config=/etc/passwd",
  "key and value": "a=b c:=1 @/etc/passwd",
  URL: "a%2e%2e%2fb?x=1#y&z",
  markup: "<script>alert(1)</script>",
  prototype: "__proto__",
  "public name of another": "mcp__H__echo",
  letters: "\u5DE5\u5177 \u0441\u0435nd caf\u00E9",
};
