import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab, LabCall } from "../lab.ts";
import { calmCriteria, type Figures, type Row } from "../row.ts";
import { bytesRead } from "./bytes-read.ts";

const server = "hostile";
const mebibyte = 1_048_576;
/** The end of the old process and the start of a new one, on a busy machine. */
const backMs = 10_000;

/** A line that is too long: the call fails as soon as that is known, and the server comes back by itself. */
async function meetLongLine(lab: Lab, args: LabCall["args"]): Promise<Figures> {
  const readBefore = bytesRead();
  const { code, tookMs } = await lab.call({ server, args, timeoutMs: 20_000 });
  const readBytes = bytesRead() - readBefore;
  const isBack = (): boolean => lab.subject.view(server).state === "connected";
  const msToBack = lab.form === "stock" ? 0 : await lab.msUntil(isBack, backMs);
  return {
    "MiB read": readBytes / mebibyte,
    "ms to error": tookMs,
    "ends other than too_large": Number(code !== "too_large"),
    "ms to be back": msToBack,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

async function readAmongGarbage(lab: Lab): Promise<Figures> {
  const { counts } = lab.subject;
  const noticesBefore = counts.loggedWarnings;
  let failed = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { text } = await lab.call({ server, args: { nonce } });
    if (text !== `garbage-stdout ${nonce}`) failed += 1;
  }
  return { "failed calls": failed, notices: counts.loggedWarnings - noticesBefore };
}

/** Every kind of character, from one byte to four, and those that only look like ends of lines. */
const text = 'plain é € 😀 \u2028 \u0085 "\\ \r\n\t end';
const repeaters = ["crlf", "split-utf8", "trickle"];

async function readPieces(lab: Lab): Promise<Figures> {
  let mismatches = 0;
  const repeat = async (name: string): Promise<void> => {
    for (let round = 0; round < lab.count; round += 1) {
      const sent = `${round} ${text}`;
      const { text: received } = await lab.call({ server: name, args: { text: sent } });
      if (received !== sent) mismatches += 1;
    }
  };
  await Promise.all(repeaters.map(repeat));
  return { mismatches };
}

const tooLong = [
  { figure: "ends other than too_large", atMost: 0 },
  { figure: "dead afterwards", atMost: 0 },
  { figure: "ms to be back", atMost: backMs },
  { figure: "MiB read", atMost: 16 },
  ...calmCriteria,
];

export const streamRows: readonly Row[] = [
  {
    id: "A1",
    trigger: "oversize-line, MiB",
    expected: "dropped with too_large, back by itself",
    measured: "one call that is answered by a line of that size; what this process read until then",
    criteria: tooLong,
    servers: { [server]: hostileEntry("oversize-line") },
    counts: { short: 12, normal: 64, long: 512, stock: 64 },
    attack: (lab) => meetLongLine(lab, { mib: lab.count }),
  },
  {
    id: "A2",
    trigger: "endless-line",
    expected: "as A1, ended before 16 MiB are read",
    measured:
      "one call that is answered by a line without an end; what this process read until then",
    criteria: tooLong,
    servers: { [server]: hostileEntry("endless-line") },
    counts: { short: 1, normal: 1, long: 1, stock: 1 },
    attack: (lab) => meetLongLine(lab, {}),
  },
  {
    id: "A3",
    trigger: "garbage-stdout",
    expected: "calls work, junk is shown once",
    measured:
      "calls one after another, each answered behind 15 lines of garbage; warnings in the log",
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "notices", atMost: 1 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("garbage-stdout") },
    counts: { short: 100, normal: 1_000, long: 20_000, stock: 1_000 },
    attack: readAmongGarbage,
  },
  {
    id: "A4",
    trigger: `${repeaters.join(", ")} ms=2`,
    expected: "work, byte-exact",
    measured: "three servers at once that repeat the text of each call in lines of their own form",
    criteria: [{ figure: "mismatches", atMost: 0 }, ...calmCriteria],
    servers: Object.fromEntries(repeaters.map((mode) => [mode, hostileEntry(mode)])),
    counts: { short: 2, normal: 20, long: 100, stock: 20 },
    attack: readPieces,
  },
];
