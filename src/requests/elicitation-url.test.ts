import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import { checkPage } from "../isolation/network/check-page.ts";
import { urlPolicyOf } from "./elicitation-url.ts";

function judge(url: unknown, entry: Readonly<Record<string, unknown>>, env = {}) {
  return checkPage(url, urlPolicyOf(parseServerEntry("s", entry), env));
}

const local = { command: "server" };
const remote = { url: "https://mcp.example.com/mcp" };
const onLoopback = { url: "http://127.0.0.1:8080/mcp" };

describe("an address a server wants opened", () => {
  it("E3: is shown and opened in one spelling, with every part of it", () => {
    expect(judge("https://example.com:8443/a?b=c%20d#e", remote)).toEqual({
      ok: true,
      href: "https://example.com:8443/a?b=c%20d#e",
      host: "example.com:8443",
    });
    // A Cyrillic letter in a name that looks familiar.
    expect(judge("https://ex\u0430mple.com/", remote)).toMatchObject({
      host: "xn--exmple-4nf.com",
    });
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript://example.com/%0Aalert(1)",
    "file:///etc/passwd",
    "data:text/html,<script>alert(1)</script>",
    "vscode://file/etc/passwd",
    "ms-settings:",
    "ftp://example.com/",
    "view-source:https://example.com",
    "--version",
    "-https://example.com",
    "/etc/passwd",
    "example.com",
    "",
    " https://example.com",
    "https://example.com/ --flag",
    "https://example.com/\n--flag",
    "https://example.com\\@evil.example",
    "https:\\\\example.com",
    "https://example.com/\u202Egpj.exe",
    "https://example.com/\u200B",
    "https://example.com/\u001B]8;;",
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://",
    "https://exa mple.com",
    "http://example.com/",
    "http://93.184.216.34/",
    "http://93.184.216.34:8080/login",
    "http://0x5db8d822/",
    "http://[2606:2800:220:1:248:1893:25c8:1946]/",
    "http://10.0.0.5/",
    "http://printer.local/",
    `https://example.com/${"a".repeat(9_000)}`,
    42,
    undefined,
  ])("E3: %j is refused", (url) => {
    expect(judge(url, remote)).toMatchObject({ ok: false });
    expect(judge(url, local)).toMatchObject({ ok: false });
  });

  it("E3: may lead to this machine only if the server is on it", () => {
    for (const url of ["http://localhost:3000/", "http://127.0.0.1/", "https://[::1]/x"]) {
      expect(judge(url, local), url).toMatchObject({ ok: true });
      expect(judge(url, onLoopback), url).toMatchObject({ ok: true });
      expect(judge(url, remote), url).toMatchObject({ ok: false });
    }
    const byVariable = { url: "http://localhost:${PORT}/mcp" };
    expect(judge("http://localhost:3000/", byVariable, { PORT: "80" })).toMatchObject({ ok: true });
    expect(judge("http://localhost:3000/", byVariable)).toMatchObject({ ok: false });
  });

  it("E3: never leads to metadata services, and to private networks only where that was allowed", () => {
    const allowed = { url: "https://10.0.0.5/mcp", allowPrivateNetwork: true };
    for (const entry of [local, remote, onLoopback, allowed])
      for (const url of ["https://169.254.169.254/", "https://metadata.google.internal/"])
        expect(judge(url, entry), url).toMatchObject({ ok: false });
    expect(judge("https://192.168.1.1/", allowed)).toMatchObject({ ok: true });
    // Also where it was allowed: whoever listens on that network would read along.
    expect(judge("http://192.168.1.1/", allowed)).toMatchObject({ ok: false });
    expect(judge("https://192.168.1.1/", remote)).toMatchObject({ ok: false });
    expect(judge("https://0x7f.1/", remote)).toMatchObject({ ok: false });
  });
});
