import { describe, expect, it } from "vitest";

import { judgeAddresses, judgeHost } from "./blocked-address.ts";
import type { NetworkPolicy } from "./network-policy.ts";

const configured: NetworkPolicy = {
  namedBy: "configuration",
  loopback: false,
  privateNetwork: false,
};
const named: NetworkPolicy = { ...configured, namedBy: "server" };
const open: NetworkPolicy = { ...configured, loopback: true, privateNetwork: true };

describe("judgeHost", () => {
  it("C-36: the refusal says what was asked, why not, and which switch to set", () => {
    const error = judgeHost("10.0.0.5", configured, "tools");
    expect(error).toMatchObject({
      code: "blocked_address",
      serverName: "tools",
      message: "refused to connect to 10.0.0.5: it is an address of a private network",
      hint: 'set "allowPrivateNetwork": true in the entry of the server if it may reach private networks',
      details: { host: "10.0.0.5", addressKind: "private", namedBy: "configuration" },
    });
    expect(error?.retryable).toBe(false);
  });

  it.each([
    [
      "127.0.0.1",
      configured,
      "refused to connect to 127.0.0.1: it is this machine itself",
      'write it as localhost, 127.0.0.1 or [::1], or set "allowPrivateNetwork": true in the entry of the server',
    ],
    [
      "0.0.0.0",
      open,
      "refused to connect to 0.0.0.0: it is not the address of any machine",
      "write 127.0.0.1 or localhost if this machine is meant",
    ],
    [
      "169.254.169.254",
      open,
      "refused to connect to 169.254.169.254: it is a link-local address",
      undefined,
    ],
    [
      "[fd00:ec2::254]",
      open,
      "refused to connect to fd00:ec2::254: it is a metadata service, which hands out credentials",
      undefined,
    ],
    [
      "metadata.google.internal",
      open,
      "refused to connect to metadata.google.internal: it is a metadata service, which hands out credentials",
      undefined,
    ],
    [
      "localhost",
      named,
      "refused to connect to localhost, which the server named: it is this machine itself",
      undefined,
    ],
  ] as const)("C-36 HTP-06: %s is refused in its own words", (host, policy, message, hint) => {
    const error = judgeHost(host, policy);
    expect([error?.message, error?.hint]).toEqual([message, hint]);
  });

  it("HTP-02: what the policy allows, or only a resolver can tell, is not refused", () => {
    expect(judgeHost("127.0.0.1", open)).toBeUndefined();
    expect(judgeHost("[fc00::1]", open)).toBeUndefined();
    expect(judgeHost("8.8.8.8", named)).toBeUndefined();
    expect(judgeHost("example.com", named)).toBeUndefined();
  });

  it("HTP-06: a name of any length makes a short message", () => {
    const host = `${"a".repeat(5_000)}.localhost`;
    expect(judgeHost(host, named)?.message.length).toBeLessThan(250);
  });
});

describe("judgeAddresses", () => {
  it("HTP-06: one forbidden address among good ones refuses the name", () => {
    expect(judgeAddresses("x.example", ["8.8.8.8", "fc00::1"], configured)).toMatchObject({
      code: "blocked_address",
      message:
        "refused to connect to x.example: it resolves to fc00::1, an address of a private network",
      details: { host: "x.example", address: "fc00::1" },
    });
    expect(judgeAddresses("x.example", ["8.8.8.8", "2606:4700::1"], configured)).toBeUndefined();
  });

  it("C-36: a name for this machine is told how to be written", () => {
    expect(judgeAddresses("me.example", ["127.0.0.1"], configured)?.hint).toBe(
      'write localhost instead if this machine is meant, or set "allowPrivateNetwork": true in the entry of the server',
    );
    expect(judgeAddresses("me.example", ["127.0.0.1"], open)).toBeUndefined();
    expect(judgeAddresses("me.example", ["127.0.0.1"], named)?.hint).toBeUndefined();
  });
});
