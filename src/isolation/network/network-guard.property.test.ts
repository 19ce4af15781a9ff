import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { judgeAddresses, judgeHost } from "./blocked-address.ts";
import { type NetworkPolicy, configuredUrlPolicy } from "./network-policy.ts";

const seed = 1_016;
const numRuns = 500;

const byte = fc.nat({ max: 255 });
const octets = (...fixed: number[]) =>
  fc
    .array(byte, { minLength: 4 - fixed.length, maxLength: 4 - fixed.length })
    .map((rest) => [...fixed, ...rest]);

const privateOctets = fc.oneof(
  octets(10),
  octets(192, 168),
  fc.integer({ min: 16, max: 31 }).chain((second) => octets(172, second)),
  fc.integer({ min: 64, max: 127 }).chain((second) => octets(100, second)),
);
const loopbackOctets = octets(127);
const linkLocalOctets = octets(169, 254);

const toNumber = (parts: readonly number[]): number =>
  parts.reduce((sum, part) => sum * 256 + part, 0);

/** One number of an address, as C has always read it. */
const numeral = (value: number) =>
  fc.constantFrom(
    String(value),
    `0${value.toString(8)}`,
    `0x${value.toString(16)}`,
    `0X${value.toString(16).toUpperCase()}`,
    `0x000${value.toString(16)}`,
  );

/** One to four numbers: the last one stands for all bytes that are left. */
const numericHost = (parts: readonly number[]) =>
  fc
    .nat({ max: 3 })
    .chain((lead) =>
      fc
        .tuple(...parts.slice(0, lead).map(numeral), numeral(toNumber(parts.slice(lead))))
        .map((numbers) => numbers.join(".")),
    );

const fullWidth = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

/** Letters and dots that `new URL` turns into plain ones. */
const disguised = (host: string) =>
  fc.constantFrom(
    host,
    `${host}.`,
    host.replaceAll(".", "。"),
    host.replaceAll(".", "%2E"),
    fullWidth(host),
    host.replace(/[0-9]/, (digit) => `%3${digit}`),
  );

const hexGroups = (parts: readonly number[]): string =>
  [parts.slice(0, 2), parts.slice(2)].map((pair) => toNumber(pair).toString(16)).join(":");

/** IPv6 addresses that hold an IPv4 one. */
const wrapped = (parts: readonly number[]) =>
  fc.constantFrom(
    `[::ffff:${parts.join(".")}]`,
    `[::FFFF:${hexGroups(parts)}]`,
    `[0:0:0:0:0:ffff:${parts.join(".")}]`,
    `[::${parts.join(".")}]`,
    `[::ffff:0:${hexGroups(parts)}]`,
    `[64:ff9b::${hexGroups(parts)}]`,
    `[2002:${hexGroups(parts)}::1]`,
  );

const spellings = (address: fc.Arbitrary<number[]>) =>
  address.chain((parts) => fc.oneof(numericHost(parts).chain(disguised), wrapped(parts)));

const refusedBy = (policy: NetworkPolicy, host: string): boolean => {
  const { hostname } = new URL(`http://${host}/`);
  return judgeHost(hostname, policy)?.code === "blocked_address";
};

describe("no spelling of an address passes a policy that forbids it", () => {
  const strict = configuredUrlPolicy("https://example.com", false);
  const lenient = configuredUrlPolicy("https://example.com", true);

  it.each([
    ["private", privateOctets, strict],
    ["this machine's", loopbackOctets, strict],
    ["link-local", linkLocalOctets, lenient],
  ] as const)("HTP-06: %s addresses", (_kind, address, policy) => {
    fc.assert(
      fc.property(spellings(address), (host) => {
        expect(refusedBy(policy, host), host).toBe(true);
      }),
      { seed, numRuns },
    );
  });

  it("HTP-06: unique local, link-local and loopback IPv6 addresses", () => {
    const group = fc.nat({ max: 0xffff }).map((value) => value.toString(16));
    const tail = fc.array(group, { minLength: 7, maxLength: 7 }).map((groups) => groups.join(":"));
    const head = fc.oneof(
      fc.integer({ min: 0xfc00, max: 0xfdff }),
      fc.integer({ min: 0xfe80, max: 0xfebf }),
    );
    const address = fc.oneof(
      fc.tuple(head, tail).map(([first, rest]) => `${first.toString(16)}:${rest}`),
      fc.constantFrom("::1", "0:0:0:0:0:0:0:1", "::0001", "0::0:1", "::0.0.0.1"),
    );
    fc.assert(
      fc.property(address, (text) => {
        expect(refusedBy(strict, `[${text}]`), text).toBe(true);
        expect(judgeAddresses("x.example", ["8.8.8.8", text], strict), text).toBeDefined();
      }),
      { seed, numRuns },
    );
  });

  it("HTP-06: only the plain notation of this machine earns the right to reach it", () => {
    const host = loopbackOctets.chain((parts) => numericHost(parts).chain(disguised));
    fc.assert(
      fc.property(host, (text) => {
        const url = `http://${text}/`;
        const isPlain = new URL(url).hostname === text;
        expect(refusedBy(configuredUrlPolicy(url, false), text), text).toBe(!isPlain);
      }),
      { seed, numRuns },
    );
  });

  it("HTP-02: allowed ones pass in every spelling that URLs know", () => {
    fc.assert(
      fc.property(fc.oneof(privateOctets, loopbackOctets), (parts) => {
        // The one metadata service in a private range stays shut.
        fc.pre(parts.join(".") !== "100.100.100.200");
        expect(refusedBy(lenient, parts.join("."))).toBe(false);
        expect(refusedBy(lenient, String(toNumber(parts)))).toBe(false);
      }),
      { seed, numRuns },
    );
  });
});
