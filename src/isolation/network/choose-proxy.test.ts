import { describe, expect, it } from "vitest";

import type { Environment } from "../../config/variables/reference-values.ts";
import { chooseProxy } from "./choose-proxy.ts";

const proxy = "http://proxy.corp:3128";

const chosen = (target: string, env: Environment): string | undefined =>
  chooseProxy(new URL(target), env)?.url.href;

describe("chooseProxy", () => {
  it.each<[string, Environment, string | undefined]>([
    ["https://a.example", {}, undefined],
    ["https://a.example", { HTTPS_PROXY: proxy }, `${proxy}/`],
    ["https://a.example", { https_proxy: proxy, HTTPS_PROXY: "http://other" }, `${proxy}/`],
    ["https://a.example", { https_proxy: "", HTTPS_PROXY: proxy }, undefined],
    ["https://a.example", { HTTP_PROXY: proxy }, undefined],
    ["http://a.example", { HTTP_PROXY: proxy }, `${proxy}/`],
    ["http://a.example", { HTTPS_PROXY: proxy }, undefined],
    ["http://a.example", { ALL_PROXY: proxy }, `${proxy}/`],
    ["https://a.example", { all_proxy: "http://other", HTTPS_PROXY: proxy }, `${proxy}/`],
    ["https://a.example", { HTTPS_PROXY: " proxy.corp:3128 " }, `${proxy}/`],
    ["https://a.example", { HTTPS_PROXY: "https://proxy.corp" }, "https://proxy.corp/"],
  ])("HTP-06: for %s and %j the proxy is %s", (target, env, expected) => {
    expect(chosen(target, env)).toBe(expected);
  });

  it.each([
    "http://localhost",
    "http://x.localhost",
    "http://127.0.0.1",
    "http://[::1]",
    "http://2130706433",
  ])("HTP-02: this machine is never reached through a proxy (%s)", (target) => {
    expect(chosen(target, { HTTP_PROXY: proxy })).toBeUndefined();
  });

  it.each<[string, string, boolean]>([
    ["*", "http://a.example", true],
    ["example", "http://a.example", true],
    [".example", "http://a.example", true],
    ["*.example", "http://a.example", true],
    ["A.Example", "http://a.example", true],
    ["a.example", "http://a.example.", true],
    ["other, a.example", "http://a.example", true],
    ["other a.example", "http://a.example", true],
    ["a.example", "http://ba.example", false],
    ["a.example", "http://example", false],
    ["", "http://a.example", false],
    [",.,", "http://a.example", false],
    ["a.example:80", "http://a.example", true],
    ["a.example:443", "http://a.example", false],
    ["a.example:8080", "http://a.example:8080", true],
    ["10.0.0.0/8", "http://10.1.2.3", true],
    ["10.0.0.0/8", "http://11.1.2.3", false],
    ["10.1.2.3", "http://10.1.2.3", true],
    ["10.1.2.3", "http://[::ffff:10.1.2.3]", true],
    ["fc00::1", "http://[fc00::1]", true],
    ["[fc00::1]:80", "http://[fc00::1]", true],
    ["[fc00::1]:81", "http://[fc00::1]", false],
    ["fc00::/7", "http://[fc00::1]", true],
    ["10.0.0.0/8", "http://[fc00::1]", false],
    ["2.3", "http://10.1.2.3", false],
  ])("HTP-06: NO_PROXY=%j and %s: reached without the proxy is %s", (list, target, isExempt) => {
    expect(chosen(target, { HTTP_PROXY: proxy, NO_PROXY: list }) === undefined).toBe(isExempt);
    expect(chosen(target, { HTTP_PROXY: proxy, no_proxy: list }) === undefined).toBe(isExempt);
  });

  it("HTP-06: user name and password become a header and are no part of the address", () => {
    const env = { HTTPS_PROXY: "http://me:p%40ss%3A@proxy.corp:3128/ignored?x" };
    expect(chooseProxy(new URL("https://a.example"), env)).toEqual({
      url: new URL(proxy),
      variable: "HTTPS_PROXY",
      authorization: `Basic ${Buffer.from("me:p@ss:").toString("base64")}`,
    });
  });

  it.each([
    ["http://", "is not the address of a proxy"],
    ["http://s3cret:x@:99999", "is not the address of a proxy"],
    ["socks5://s3cret@proxy.corp", "names a proxy that is neither http: nor https:"],
    [
      "http://me:s3cret%zz@proxy.corp",
      "holds a user name or password with a stray % (write it as %25)",
    ],
  ])(
    "HTP-06: a proxy that cannot be used (%s) is an error that keeps its value to itself",
    (value, problem) => {
      expect.assertions(2);
      try {
        chooseProxy(new URL("https://a.example"), { https_proxy: value });
      } catch (error) {
        expect(error).toMatchObject({
          code: "config_invalid",
          message: `the variable https_proxy ${problem}`,
          hint: "set https_proxy to http://host:port, or unset it",
        });
        expect(JSON.stringify(error)).not.toContain("s3cret");
      }
    },
  );
});
