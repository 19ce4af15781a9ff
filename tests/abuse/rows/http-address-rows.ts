import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import type { ServerEntries } from "../subject.ts";

const allowed = "allowed";

/** Other ways to write this machine, and addresses that no configuration may name. */
const literals = [
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "017700000001",
  "127.1",
  "127.0.0.1.",
  "localhost.",
  "①②⑦.⓪.⓪.①",
  "%31%32%37.0.0.1",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:0:0:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "0.0.0.0",
  "0",
  "[::]",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "168.63.129.16",
  "metadata.google.internal",
  "10.0.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "[fe80::1]",
  "[fc00::1]",
  "255.255.255.255",
];

function entriesFor(): ServerEntries {
  const forbidden = literals.map((host, index) => [
    `literal-${index}`,
    hostileHttpEntry("status", { parameters: { name: "trap" }, access: { host } }),
  ]);
  return { [allowed]: hostileHttpEntry("status"), ...Object.fromEntries(forbidden) };
}

/** The same server is reached by its plain address and by none of the others. */
async function knock(lab: Lab): Promise<Figures> {
  const forbidden = lab.siteNames.filter((name) => name !== allowed);
  const figures = { "wrong ends": 0, "max ms to error": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const server of forbidden) {
      const { code, tookMs } = await lab.call({ server, args: {} });
      if (code !== "blocked_address") figures["wrong ends"] += 1;
      figures["max ms to error"] = Math.max(figures["max ms to error"], tookMs);
    }
  const { sockets, requests } = await lab.site(forbidden[0] ?? "").report();
  return {
    ...figures,
    "trap hits": requests,
    "connections to the trap": sockets,
    "allowed refused": Number(!(await lab.isAlive(allowed))),
  };
}

export const httpAddressRows: readonly Row[] = [
  {
    id: "F9",
    trigger: `url with each of ${literals.length} SSRF literals`,
    expected: "refused as blocked_address, nothing sent",
    measured: "one entry for each literal with the port of a trap; and one with its plain address",
    criteria: [
      { figure: "trap hits", atMost: 0 },
      { figure: "connections to the trap", atMost: 0 },
      { figure: "wrong ends", atMost: 0 },
      { figure: "allowed refused", atMost: 0 },
      { figure: "max ms to error", atMost: 1_000, isPhysical: true },
    ],
    servers: entriesFor(),
    counts: { short: 1, normal: 5, long: 20 },
    attack: knock,
  },
];
