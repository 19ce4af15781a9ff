import { describe, expect, it } from "vitest";

import { addressKind } from "./address-kind.ts";

describe("addressKind", () => {
  it.each([
    ["public", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"]],
    ["loopback", ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]],
    ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::ffff:10.0.0.1"]],
    ["private", ["100.64.0.1", "100.127.255.255", "fc00::1", "fdff::1"]],
    ["link-local", ["169.254.169.254", "169.254.0.1", "fe80::1", "::ffff:169.254.169.254"]],
    ["metadata", ["168.63.129.16", "100.100.100.200", "192.0.0.192", "::ffff:168.63.129.16"]],
    ["metadata", ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]],
    ["unspecified", ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"]],
    [
      "reserved",
      ["224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "ff02::1"],
    ],
    // Each of these holds 127.0.0.1 in some way.
    ["reserved", ["::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:0:7f00:1"]],
    ["reserved", ["2001:0:7f00:1::", "fec0::1", "2001:db8::1", "4000::1", "100::1"]],
  ])("HTP-06: %s addresses are told as such: %j", (kind, addresses) => {
    expect(addresses.map((address) => [address, addressKind(address)])).toEqual(
      addresses.map((address) => [address, kind]),
    );
  });

  it.each([
    "",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "fe80::1%eth0",
    "::1%lo",
    "example.com",
  ])("HTP-06: what is no address in its usual notation is never public (%j)", (text) => {
    expect(addressKind(text)).toBe("reserved");
  });
});
