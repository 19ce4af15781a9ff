import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { calmCriteria, type Figures, type Row } from "../row.ts";

const server = "hostile";
const mebibyte = 1_048_576;

async function drainFlood(lab: Lab): Promise<Figures> {
  const bytes = lab.count * mebibyte;
  const { ok } = await lab.call({ server, args: { bytes, nonce: 1 }, timeoutMs: 25_000 });
  // The answer has a pipe of its own and may be faster.
  await lab.subject.disconnect(server);
  const logs = lab.subject.logs(server);
  const logBytes = logs.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const textBytes = lab.subject
    .texts(server)
    .reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  return {
    "failed calls": Number(!ok),
    "log bytes": logBytes,
    "bytes shown and logged": textBytes,
    "last words lost": Number(logs.at(-1) !== "last words"),
  };
}

/** Controls, and what is invisible or turns the direction of text. */
const rawControl = /[\p{Cc}\p{Cf}]/u;
const credential = /a1B2|c3D4|e5F6|AKIAIOSFODNN7EXAMPLE/;

/** In the log, in the reason of an end, in what the host logs: nothing works on a terminal, no key is readable. */
async function showEvilLines(lab: Lab): Promise<Figures> {
  const figures = { "raw control characters": 0, "keys shown": 0, "lines lost": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const exit of [false, true]) {
      await lab.call({ server, args: { nonce: round, exit } });
      // Likewise; and what was written is logged by the end of the server at the latest.
      await lab.subject.disconnect(server);
      const texts = lab.subject.texts(server);
      figures["raw control characters"] += texts.filter((line) => rawControl.test(line)).length;
      figures["keys shown"] += texts.filter((line) => credential.test(line)).length;
      if (!texts.includes("EOL")) figures["lines lost"] += 1;
    }
  return figures;
}

export const stderrRows: readonly Row[] = [
  {
    id: "A17",
    trigger: "stderr-flood, MiB",
    expected: "only the last of it is kept",
    measured:
      "one call answered behind so many lines of 1 KiB on stderr; what the log and the host's own log hold",
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "log bytes", atMost: 256 * 1_024 },
      { figure: "last words lost", atMost: 0 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("stderr-flood") },
    counts: { short: 32, normal: 1_024, long: 4_096, stock: 1_024 },
    attack: drainFlood,
  },
  {
    id: "A18",
    trigger: "stderr-escape",
    expected: "escapes neutralised, keys redacted",
    measured:
      "15 lines, with an answer or the end of the process behind them; every text of the log, of the error and of the host's own log",
    criteria: [
      { figure: "raw control characters", atMost: 0 },
      { figure: "keys shown", atMost: 0 },
      { figure: "lines lost", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("stderr-escape") },
    counts: { short: 1, normal: 10, long: 100 },
    attack: showEvilLines,
  },
];
