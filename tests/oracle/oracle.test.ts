import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { answers } from "./curated/answers.ts";
import { floods, lists, requestFlood } from "./curated/floods-and-lists.ts";
import { httpTranscripts, openings, pipeOpenings } from "./curated/openings.ts";
import { questions } from "./curated/questions.ts";
import { oddOpeningTranscript, oddTranscript, validTranscript } from "./generate/transcripts.ts";
import { openHttpStage } from "./http-stage.ts";
import { judge, type OpenStage, type Verdict } from "./judge.ts";
import { mistaken, mistakes } from "./mistakes.ts";
import { openMemoryStage, openStdioStage } from "./pipe-stages.ts";
import { renderDecision } from "./render-decision.ts";
import { Tally } from "./tally.ts";
import type { Transcript } from "./transcript.ts";

// ORACLE_RUNS=5000 plays as many generated transcripts of each kind instead of the usual few, from a
// new seed each time; ORACLE_SEED repeats one.
const askedRuns = Number(process.env["ORACLE_RUNS"] ?? 0);
const seed = Number(process.env["ORACLE_SEED"] ?? (askedRuns > 0 ? Date.now() : 20_260_728));
const msPerRun = 200;

const stages = {
  memory: openMemoryStage,
  stdio: openStdioStage,
  "HTTP with JSON": (transcript) => openHttpStage(transcript, "json"),
  "HTTP with events": (transcript) => openHttpStage(transcript, "events"),
} as const satisfies Record<string, OpenStage>;
const stageNames = Object.keys(stages) as (keyof typeof stages)[];

if (process.env["ORACLE_RECORD"] === "1") await import("./recording.ts");

const folder = path.join(import.meta.dirname, "transcripts");
const recordedTranscripts = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Transcript,
);

/** Written by hand: what chance would rarely meet, and one example of each listed difference. */
const curatedTranscripts = [
  ...pipeOpenings,
  ...openings,
  ...answers,
  ...questions,
  ...floods,
  ...lists,
];

const tally = new Tally();

beforeAll(() => {
  // The SDK prints when a server has no tools, and when it leaves one out.
  vi.spyOn(console, "debug").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
});

afterAll(() => {
  console.log(`Oracle (seed ${seed}), our core and the SDK's client:\n${tally.text}`);
});

/** Fails with every difference that nothing explains. */
async function expectAgreement(transcript: Transcript, openStage: OpenStage): Promise<void> {
  const verdict = await judge(transcript, openStage);
  tally.add(verdict);
  expect(unexplainedIn(verdict), transcript.name).toEqual([]);
}

function unexplainedIn({ unexplained }: Verdict): readonly unknown[] {
  return unexplained.map(({ pair: { place, operation }, aspect, core, sdk }) => ({
    place: operation === undefined ? place : `${place}: ${operation.do}`,
    aspect,
    core,
    sdk,
  }));
}

/** Plays generated transcripts; a failure is shrunk and printed with its seed. */
async function explore(
  transcripts: fc.Arbitrary<Transcript>,
  openStage: OpenStage,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(transcripts, (transcript) => expectAgreement(transcript, openStage)),
    { seed, numRuns },
  );
}

describe("our core and the SDK's client make the same of a server, or the difference is listed", () => {
  describe.each(stageNames)("over %s", (name) => {
    // What came over HTTP has been recorded over stdio as well.
    const isPlayed = (transcript: Transcript) =>
      name !== "stdio" || !transcript.name.endsWith("http");
    it.each(recordedTranscripts.filter(isPlayed))(
      "PRO-01 PRO-14 PRO-17: recorded from $name",
      async (transcript) => {
        await expectAgreement(transcript, stages[name]);
      },
    );
  });

  it.each([...curatedTranscripts, requestFlood])(
    "PRO-08 PRO-09 PRO-19 PRO-20 PRO-25: in memory, $name",
    async (transcript) => {
      await expectAgreement(transcript, stages.memory);
    },
  );

  it.each(pipeOpenings)("PRO-17 PRO-18 PRO-20: over stdio, $name", async (transcript) => {
    await expectAgreement(transcript, stages.stdio);
  });

  it.each([...httpTranscripts, ...curatedTranscripts])(
    "PRO-13 PRO-22: over HTTP, $name",
    async (transcript) => {
      await expectAgreement(transcript, stages["HTTP with JSON"]);
    },
  );

  describe.each([
    ["valid servers", validTranscript, 120],
    ["nearly valid servers", oddTranscript, 200],
    ["nearly valid handshakes", oddOpeningTranscript, 80],
  ] as const)("generated: %s", (_, transcripts, usualRuns) => {
    const runs = askedRuns > 0 ? askedRuns : usualRuns;
    it.each([
      ["memory", runs],
      ["HTTP with JSON", Math.round(runs / 8)],
      ["HTTP with events", Math.round(runs / 8)],
      ["stdio", Math.round(runs / 40)],
    ] as const)(
      "PRO-08 PRO-19 PRO-22 PRO-24 MSG-02 MSG-11 MSG-12: over %s",
      async (stage, numRuns) => {
        await explore(transcripts, stages[stage], numRuns);
      },
      30_000 + runs * msPerRun,
    );
  });

  // Last, and about all the others: it says nothing when only some of them are run.
  it("leaves nothing unexplained, and no explanation without a difference", () => {
    expect(tally.unexplained).toBe(0);
    expect(tally.idleRules).toEqual([]);
  });

  it("says so in docs/decisions", async () => {
    const page = "../../docs/decisions/0004-where-the-core-differs-from-the-sdk.md";
    await expect(renderDecision()).toMatchFileSnapshot(page);
  });
});

describe("a core with a mistake in it is found out", () => {
  it.each(Object.entries(mistakes))("when it %s", async (_, mistake) => {
    const transcripts = fc.sample(validTranscript, { seed: 1, numRuns: 60 });
    let found = 0;
    for (const transcript of transcripts) {
      const { unexplained } = await judge(transcript, stages.memory, mistaken(mistake));
      found += unexplained.length;
      if (found > 0) break;
    }
    expect(found).toBeGreaterThan(0);
  });
});
