import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const capBytes = 1_048_576;

/** Sizes that the caller gets as text, the largest of each kind. */
async function receiveMuch(lab: Lab): Promise<Figures> {
  const args = { bytes: lab.count };
  const content = await lab.call({ server: "content", args, timeoutMs: 10_000 });
  const rpc = await lab.call({ server: "error", args, timeoutMs: 10_000 });
  const tool = await lab.call({
    server: "error",
    args: { ...args, where: "tool" },
    timeoutMs: 10_000,
  });
  const shown = [content, tool].map(({ text }) => Buffer.byteLength(text));
  const messages = [rpc, tool].map(({ message }) => Buffer.byteLength(message));
  return {
    "bytes of text": Math.max(...shown),
    "bytes of message": Math.max(...messages),
    "not marked as cut": [content, tool].filter(({ isCut }) => !isCut).length,
    "wrong ends": [content.ok, rpc.code === "rpc_error", tool.code === "tool_error"].filter(
      (isRight) => !isRight,
    ).length,
  };
}

async function parseMuch(lab: Lab): Promise<Figures> {
  let wrong = 0;
  for (const kind of ["lists", "keys"]) {
    const args = { bytes: lab.count, kind };
    const { ok, code } = await lab.call({ server: "dense", args, timeoutMs: 20_000 });
    if (!ok && code !== "too_large") wrong += 1;
  }
  return { "wrong ends": wrong };
}

export const sizeRows: readonly Row[] = [
  {
    id: "A22",
    trigger: "huge-content-array, huge-error, bytes",
    expected: "capped with a marker",
    measured:
      "a result of many blocks, an error of the protocol and one of the tool, all of that size; a cap of 1 MiB for what the caller gets as text. The time to parse is part of the lag",
    criteria: [
      { figure: "bytes of text", atMost: capBytes },
      { figure: "bytes of message", atMost: capBytes },
      { figure: "not marked as cut", atMost: 0 },
      { figure: "wrong ends", atMost: 0 },
    ],
    servers: {
      content: hostileEntry("huge-content-array"),
      error: hostileEntry("huge-error"),
    },
    limits: () => ({ maxResultBytes: capBytes }),
    stallAllowance: {
      atMostMs: 150,
      reason: "JSON.parse of one message of five megabytes in many blocks cannot be interrupted",
    },
    counts: { short: 5_000_000, normal: 5_000_000, long: 5_000_000, stock: 5_000_000 },
    attack: receiveMuch,
  },
  {
    id: "A22",
    trigger: "dense-json, bytes",
    expected: "refused before it is built, if it holds more than a million values",
    measured:
      "two results nearly as large as a message may be, one of empty lists and one of short keys. JSON.parse cannot be interrupted: for how long it holds the event loop, and what it takes, is told, not judged",
    criteria: [{ figure: "wrong ends", atMost: 0 }],
    servers: { dense: hostileEntry("dense-json") },
    isBusy: true,
    stallAllowance: {
      atMostMs: 2_000,
      reason:
        "JSON.parse of one message within the limit, of up to a million values, cannot be interrupted",
    },
    counts: { short: 300_000, normal: 10_000_000, long: 10_000_000, stock: 10_000_000 },
    attack: parseMuch,
  },
];
