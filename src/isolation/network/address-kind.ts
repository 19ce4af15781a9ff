import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

/** What lies behind an address, as far as it matters for whether it may be dialled. */
export type AddressKind =
  | "public"
  | "loopback"
  | "private"
  | "link-local"
  | "metadata"
  | "unspecified"
  | "reserved";

const kindOfRange: Readonly<Record<string, AddressKind>> = {
  unicast: "public",
  loopback: "loopback",
  private: "private",
  uniqueLocal: "private",
  carrierGradeNat: "private",
  linkLocal: "link-local",
  unspecified: "unspecified",
};

/** Services that hand credentials to whoever asks, at addresses that look public or private. */
const metadataAddresses = [
  "168.63.129.16/32", // Azure
  "100.100.100.200/32", // Alibaba Cloud
  "192.0.0.192/32", // Oracle Cloud
  "fd00:ec2::/32", // AWS
  "fd20:ce::254/128", // Google Cloud
].map((range) => ipaddr.parseCIDR(range));

/** All that is routed on the IPv6 internet; outside of it are tunnels and translated addresses. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/**
 * The kind of an IP address in its usual notation. Whatever is not known to be harmless is
 * `reserved`: other notations, IPv6 zones, multicast, addresses that wrap an IPv4 address (a mapped
 * one counts as the IPv4 address it is).
 */
export function addressKind(address: string): AddressKind {
  if (isIP(address) === 0 || address.includes("%")) return "reserved";
  const ip = ipaddr.process(address);
  const isIn = ([base, bits]: (typeof metadataAddresses)[number]): boolean =>
    base.kind() === ip.kind() && ip.match(base, bits);
  if (metadataAddresses.some(isIn)) return "metadata";
  const kind = kindOfRange[ip.range()] ?? "reserved";
  return kind === "public" && ip.kind() === "ipv6" && !isIn(globalUnicast) ? "reserved" : kind;
}
