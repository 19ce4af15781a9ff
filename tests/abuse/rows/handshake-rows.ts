import { Diary } from "../diary.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const server = "hostile";

async function refuseVersion(lab: Lab): Promise<Figures> {
  let wrongEnds = 0;
  let unnamed = 0;
  for (let round = 0; round < lab.count; round += 1) {
    const { code, message } = await lab.call({ server, args: {} });
    if (code !== "protocol_violation") wrongEnds += 1;
    if (!message.includes("1999-01-01")) unnamed += 1;
  }
  return { "ends other than protocol_violation": wrongEnds, "versions not named": unnamed };
}

/** How each of these ends, by name; and nobody is asked more often than it takes to find out. */
const liars: Readonly<Record<string, string>> = {
  "unknown-result-type": "invalid_result",
  "version-liar": "protocol_violation",
  "version-loop": "protocol_violation",
};
const requests = new Diary();

async function talkToLiars(lab: Lab): Promise<Figures> {
  let wrongEnds = 0;
  for (let round = 0; round < lab.count; round += 1)
    for (const [name, expected] of Object.entries(liars)) {
      await lab.subject.disconnect(name);
      const { code } = await lab.call({ server: name, args: {} });
      if (code !== expected) wrongEnds += 1;
    }
  const perProcess = new Map<string, number>();
  for (const { text } of requests.entries()) {
    const [pid = ""] = text.split(" ");
    perProcess.set(pid, (perProcess.get(pid) ?? 0) + 1);
  }
  return { "wrong ends": wrongEnds, "max requests": Math.max(...perProcess.values()) };
}

async function answerBesideErrors(lab: Lab): Promise<Figures> {
  let failed = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { text } = await lab.call({ server, args: { nonce } });
    if (text !== `null-id-errors ${nonce}`) failed += 1;
  }
  return { "failed calls": failed };
}

async function callWhileChanging(lab: Lab): Promise<Figures> {
  let failed = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { text } = await lab.call({ server, args: { nonce } });
    if (text !== `changing-tools ${nonce}`) failed += 1;
  }
  return { "failed calls": failed, "dead afterwards": Number(!(await lab.isAlive(server))) };
}

const noFailure = { figure: "failed calls", atMost: 0 } as const;

export const handshakeRows: readonly Row[] = [
  {
    id: "E4",
    trigger: "wrong-version",
    expected: "typed error that names the version",
    measured: "calls that each try to connect",
    criteria: [
      { figure: "ends other than protocol_violation", atMost: 0 },
      { figure: "versions not named", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("wrong-version") },
    counts: { short: 1, normal: 10, long: 50, stock: 3 },
    attack: refuseVersion,
  },
  {
    id: "E4",
    trigger: Object.keys(liars).join(", "),
    expected: "typed error, bounded tries",
    measured: "a connection and a call of each in turn; what one process was asked at most",
    criteria: [
      { figure: "wrong ends", atMost: 0 },
      { figure: "max requests", atMost: 4 },
    ],
    servers: Object.fromEntries(
      Object.keys(liars).map((mode) => [mode, hostileEntry(mode, { diary: requests.file })]),
    ),
    counts: { short: 1, normal: 20, long: 100 },
    attack: talkToLiars,
  },
  {
    id: "TST-07",
    trigger: "null-id-errors",
    expected: "ignored, right answer wins",
    measured: "calls with nonces, each answered between errors that name no request",
    criteria: [noFailure],
    servers: { [server]: hostileEntry("null-id-errors") },
    counts: { short: 20, normal: 500, long: 5_000, stock: 500 },
    attack: answerBesideErrors,
  },
  {
    id: "TST-07",
    trigger: "changing-tools",
    expected: "calls work while the list changes",
    measured: "calls with nonces, each of which changes the list",
    criteria: [noFailure, { figure: "dead afterwards", atMost: 0 }],
    servers: { [server]: hostileEntry("changing-tools") },
    counts: { short: 20, normal: 200, long: 2_000, stock: 200 },
    attack: callWhileChanging,
  },
];
