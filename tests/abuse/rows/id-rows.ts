import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import type { CallEnd } from "../subject.ts";

const server = "hostile";

const tag = "id-attacker";

/** Calls with nonces: each must get the answer to itself and nothing else. */
class NonceCalls {
  readonly figures = { "wrong resolutions": 0, "failed calls": 0 };
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async call(index: number, timeoutMs = 4_000): Promise<CallEnd> {
    const nonce = `n${index}`;
    const end = await this.#lab.call({ server, args: { nonce }, timeoutMs });
    if (!end.ok) this.figures["failed calls"] += 1;
    else if (end.text !== `${tag} ${nonce}`) this.figures["wrong resolutions"] += 1;
    return end;
  }
}

async function callInTurn(lab: Lab, callsPerConnection: number): Promise<Figures> {
  const calls = new NonceCalls(lab);
  for (let index = 0; index < lab.count; index += 1) {
    // What came unasked is forgiven up to a bound per connection; this attack is about the answers.
    if (index > 0 && index % callsPerConnection === 0) await lab.subject.disconnect(server);
    await calls.call(index);
  }
  return calls.figures;
}

async function callWithoutAnswer(lab: Lab): Promise<Figures> {
  const calls = new NonceCalls(lab);
  const ends = await Promise.all(
    Array.from({ length: lab.count }, (_, index) => calls.call(index, 500)),
  );
  return {
    "wrong resolutions": calls.figures["wrong resolutions"],
    "ends other than timeout": ends.filter(({ code }) => code !== "timeout").length,
  };
}

/** Past a hundred strays the connection must go, and what was in flight must hear of it. */
async function callThroughFlood(lab: Lab): Promise<Figures> {
  const calls = new NonceCalls(lab);
  let otherEnds = 0;
  for (let index = 0; index < lab.count; index += 1) {
    const { code } = await calls.call(index);
    if (code !== "protocol_violation") otherEnds += 1;
  }
  return {
    "wrong resolutions": calls.figures["wrong resolutions"],
    "ends other than protocol_violation": otherEnds,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

async function callInParallel(lab: Lab): Promise<Figures> {
  const calls = new NonceCalls(lab);
  const parallel = 10;
  for (let index = 0; index < lab.count; index += parallel)
    await Promise.all(Array.from({ length: parallel }, (_, offset) => calls.call(index + offset)));
  const isAlive = await lab.isAlive(server);
  await lab.subject.disconnect(server);
  const extraAnswers = 3 * lab.count;
  return {
    ...calls.figures,
    "dead afterwards": Number(!isAlive),
    "extra answers not counted": extraAnswers - lab.subject.counts.dropped,
  };
}

async function callTwoServers(lab: Lab): Promise<Figures> {
  const figures = { "cross-server leaks": 0, "failed calls": 0, "swapped inside": 0 };
  const callOne = async (name: string, nonce: string): Promise<void> => {
    const { ok, text } = await lab.call({ server: name, args: { nonce } });
    if (!ok) figures["failed calls"] += 1;
    else if (!text.startsWith(`${name} `)) figures["cross-server leaks"] += 1;
    else if (text !== `${name} ${nonce}`) figures["swapped inside"] += 1;
  };
  for (let pair = 0; pair < lab.count; pair += 1)
    await Promise.all(
      ["left", "right"].flatMap((name) => [
        callOne(name, `${pair}-first`),
        callOne(name, `${pair}-second`),
      ]),
    );
  return figures;
}

const noWrongAnswer = [
  { figure: "wrong resolutions", atMost: 0 },
  { figure: "failed calls", atMost: 0 },
] as const;

export const idRows: readonly Row[] = [
  {
    id: "A5",
    trigger: "unmatched-ids n=3",
    expected: "ignored, right answer wins",
    measured:
      "each call carries a nonce; an answer without it, or no answer, counts. A new connection every 30 calls",
    criteria: noWrongAnswer,
    servers: { [server]: hostileEntry("unmatched-ids", { n: 3, tag }) },
    counts: { short: 30, normal: 300, long: 3_000, stock: 300 },
    attack: (lab) => callInTurn(lab, 30),
  },
  {
    id: "A5",
    trigger: "unmatched-ids n=150",
    expected: "past 100 closed as protocol_violation",
    measured:
      "nonces; the strays come before the answer, so every call must end with the connection",
    criteria: [
      { figure: "wrong resolutions", atMost: 0 },
      { figure: "ends other than protocol_violation", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("unmatched-ids", { n: 150, tag }) },
    counts: { short: 2, normal: 20, long: 100, stock: 20 },
    attack: callThroughFlood,
  },
  {
    id: "A6",
    trigger: "id-type-confusion",
    expected: "no call resolved by an id of another type",
    measured: "nonces, as in A5. A new connection every 15 calls",
    criteria: noWrongAnswer,
    servers: { [server]: hostileEntry("id-type-confusion", { tag }) },
    counts: { short: 15, normal: 300, long: 3_000, stock: 300 },
    attack: (lab) => callInTurn(lab, 15),
  },
  {
    id: "A6",
    trigger: "id-type-confusion right=0",
    expected: "not resolved at all: timeout",
    measured: "parallel calls with 500 ms that get confusable answers only",
    criteria: [
      { figure: "wrong resolutions", atMost: 0 },
      { figure: "ends other than timeout", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("id-type-confusion", { right: 0, tag }) },
    counts: { short: 5, normal: 20, long: 20, stock: 5 },
    attack: callWithoutAnswer,
  },
  {
    id: "A7",
    trigger: "duplicate-responses",
    expected: "first wins, rest counted",
    measured:
      "nonces, ten calls at a time; the host's events of each call; its count of dropped answers",
    criteria: [
      ...noWrongAnswer,
      { figure: "double ends", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
      { figure: "extra answers not counted", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("duplicate-responses", { tag }) },
    counts: { short: 100, normal: 1_000, long: 20_000, stock: 1_000 },
    attack: callInParallel,
  },
  {
    id: "A8",
    trigger: "swapped-responses, two servers",
    expected: "stays inside that server",
    measured: "every answer names its server; pairs of calls on both at once",
    criteria: [
      { figure: "cross-server leaks", atMost: 0 },
      { figure: "failed calls", atMost: 0 },
    ],
    servers: {
      left: hostileEntry("swapped-responses", { tag: "left" }),
      right: hostileEntry("swapped-responses", { tag: "right" }),
    },
    counts: { short: 10, normal: 90, long: 90, stock: 90 },
    attack: callTwoServers,
  },
];
