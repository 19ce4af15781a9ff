import { describe, expect, it } from "vitest";

import { allowsKind, configuredUrlPolicy, hostKind, serverUrlPolicy } from "./network-policy.ts";

const configuration = { namedBy: "configuration", loopback: false, privateNetwork: false } as const;

describe("configuredUrlPolicy", () => {
  it.each([
    "http://localhost/mcp",
    "HTTP://LocalHost:8080",
    "https://api.localhost:8443/mcp?x=1",
    "http://127.0.0.1:3000",
    "http://127.8.9.10",
    "http://[::1]:3000/mcp",
  ])("HTP-02 C-36: a configured URL may name this machine plainly (%s)", (text) => {
    expect(configuredUrlPolicy(text, false)).toEqual({ ...configuration, loopback: true });
  });

  it.each([
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://localhost./",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://0.0.0.0/",
    "http://１２７.0.0.1/",
    "http://loc%61lhost/",
    "http://local\thost/",
    "http:127.0.0.1",
    "http:\\\\127.0.0.1\\",
    "http://localhost:80@example.com/",
    "http://localhost\\@example.com/",
    "http://localhost.example.com/",
    "http://example.com/#http://localhost",
    "not a url",
  ])("HTP-06: any other notation gives no right to reach this machine (%j)", (text) => {
    expect(configuredUrlPolicy(text, false)).toEqual(configuration);
  });

  it("C-36: allowPrivateNetwork opens private networks and this machine, and nothing else", () => {
    const policy = configuredUrlPolicy("http://tools.internal/", true);
    expect(policy).toEqual({ ...configuration, loopback: true, privateNetwork: true });
    expect(allowsKind(policy, "private")).toBe(true);
    expect(allowsKind(policy, "loopback")).toBe(true);
    for (const kind of ["link-local", "metadata", "unspecified", "reserved"] as const)
      expect(allowsKind(policy, kind)).toBe(false);
  });
});

describe("serverUrlPolicy", () => {
  const named = (url: string, allowPrivateNetwork = false) =>
    serverUrlPolicy(new URL(url), configuredUrlPolicy(url, allowPrivateNetwork));

  it("HTP-06: a server elsewhere may not point to this machine, whatever its entry allows", () => {
    expect(named("https://example.com/mcp")).toMatchObject({ namedBy: "server", loopback: false });
    expect(named("https://tools.internal/mcp", true)).toEqual({
      namedBy: "server",
      loopback: false,
      privateNetwork: true,
    });
  });

  it.each(["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"])(
    "HTP-02: a server on this machine may point to this machine (%s)",
    (url) => {
      expect(named(url)).toEqual({ namedBy: "server", loopback: true, privateNetwork: false });
    },
  );
});

describe("hostKind", () => {
  it.each([
    ["example.com", undefined],
    ["localhost.example.com", undefined],
    ["metadata.example.com", undefined],
    ["localhost", "loopback"],
    ["LOCALHOST.", "loopback"],
    ["a.b.localhost", "loopback"],
    ["[::1]", "loopback"],
    ["::1", "loopback"],
    ["10.1.2.3", "private"],
    ["metadata.google.internal", "metadata"],
    ["Metadata.Google.Internal.", "metadata"],
  ])("HTP-06: %s is known to be %s before anything is resolved", (host, kind) => {
    expect(hostKind(host)).toBe(kind);
  });
});
