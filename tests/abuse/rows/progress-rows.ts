import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import type { Report } from "../subject.ts";

const server = "hostile";
/** Of the total; long enough for a server that gets no processor for a while. */
const silenceShare = 0.75;
const burst = 1_000;
const perSecond = 200;

/** A call that is kept alive by progress; `lab.count` is its total deadline in milliseconds. */
async function outliveProgress(lab: Lab): Promise<Figures> {
  let reports = 0;
  const { code, tookMs } = await lab.call({
    server,
    args: {},
    timeoutMs: lab.count * silenceShare,
    overAfterMs: lab.count,
    onProgress: () => void (reports += 1),
  });
  const allowed = burst + (perSecond * tookMs) / 1_000 + 1;
  return {
    "overrun ms": tookMs - lab.count,
    "ended early ms": Math.max(0, lab.count - tookMs),
    "ends other than timeout": Number(code !== "timeout"),
    "reports over the rate": Math.max(0, reports - allowed),
    reports,
  };
}

async function hearNonsense(lab: Lab): Promise<Figures> {
  const figures = { "failed calls": 0, "wrong reports": 0 };
  for (let index = 0; index < lab.count; index += 1) {
    // More on one connection would exceed what it may say unasked, and good reports would be lost.
    if (index > 0 && index % 35 === 0) await lab.subject.disconnect(server);
    const heard: Report[] = [];
    const { ok, text } = await lab.call({
      server,
      args: { nonce: index },
      onProgress: (report) => void heard.push(report),
    });
    if (!ok || text !== `progress-weird ${index}`) figures["failed calls"] += 1;
    const good = heard.filter(({ message }) => message === "good");
    figures["wrong reports"] += heard.length - good.length + Math.abs(good.length - 2);
    if (heard.some(({ total }) => total !== undefined && !Number.isFinite(total)))
      figures["wrong reports"] += 1;
  }
  return { ...figures, "dead afterwards": Number(!(await lab.isAlive(server))) };
}

/** Late answers are nobody's fault: hundreds of them must not end the connection. */
async function cancelAndListen(lab: Lab): Promise<Figures> {
  let otherEnds = 0;
  for (let index = 0; index < lab.count; index += 1) {
    const cancelling = new AbortController();
    setTimeout(() => cancelling.abort(), 1);
    const { code } = await lab.call({
      server,
      args: {},
      signal: cancelling.signal,
      onProgress: () => {},
    });
    if (code !== "cancelled") otherEnds += 1;
  }
  return {
    "ends other than cancelled": otherEnds,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

/** A flood at full speed and one that any rate limit lets through. */
const floods = [
  { trigger: "progress-flood", parameters: { n: 50_000_000 } },
  { trigger: "progress-flood each=1 ms=20", parameters: { n: 1_000_000, each: 1, ms: 20 } },
];

export const progressRows: readonly Row[] = [
  ...floods.map(({ trigger, parameters }): Row => ({
    id: "A20",
    trigger,
    expected: "fails at total deadline; UI throttled",
    measured:
      "one call with the count in ms for all of it, and three quarters of that for silence; its end, and the reports its caller got",
    criteria: [
      { figure: "overrun ms", atMost: 1_000, isPhysical: true },
      { figure: "ended early ms", atMost: 1 },
      { figure: "ends other than timeout", atMost: 0 },
      { figure: "reports over the rate", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("progress-flood", parameters) },
    limits: (totalCallTimeoutMs) => ({ totalCallTimeoutMs }),
    counts: { short: 1_200, normal: 4_000, long: 20_000, stock: 4_000 },
    attack: outliveProgress,
  })),
  {
    id: "A21",
    trigger: "progress-weird",
    expected: "ignored after the result",
    measured:
      "callbacks after the end of a call; reports besides the two good ones, or without them. A new connection every 35 calls",
    criteria: [
      { figure: "stray callbacks", atMost: 0 },
      { figure: "failed calls", atMost: 0 },
      { figure: "wrong reports", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("progress-weird") },
    counts: { short: 5, normal: 100, long: 1_000, stock: 100 },
    attack: hearNonsense,
  },
  {
    id: "A21",
    trigger: "late-response after cancel",
    expected: "ignored, and no offence",
    measured:
      "calls cancelled a millisecond after they were made; callbacks and results after that",
    criteria: [
      { figure: "stray callbacks", atMost: 0 },
      { figure: "ends other than cancelled", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("late-response") },
    counts: { short: 60, normal: 300, long: 3_000, stock: 300 },
    attack: cancelAndListen,
  },
];
