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

async function answerBesideErrors(lab: Lab): Promise<Figures> {
  let failed = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { text } = await lab.call({ server, args: { nonce } });
    if (text !== `null-id-errors ${nonce}`) failed += 1;
  }
  return { "failed calls": failed };
}

async function followCursors(lab: Lab): Promise<Figures> {
  let pages = 0;
  let failed = 0;
  for (let round = 0; round < lab.count; round += 1) {
    await lab.subject.disconnect(server);
    const { structured } = await lab.call({ server, args: {}, timeoutMs: 10_000 });
    if (structured === undefined) failed += 1;
    pages = Math.max(pages, (structured as { readonly pages?: number } | undefined)?.pages ?? 0);
  }
  return { "failed calls": failed, pages };
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
    id: "D12",
    trigger: "cursor-loop",
    expected: "stops at the cap on pages",
    measured: "connections in turn; the server counts the pages it was asked for in each",
    criteria: [{ figure: "pages", atMost: 64 }, noFailure],
    servers: { [server]: hostileEntry("cursor-loop") },
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: followCursors,
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
