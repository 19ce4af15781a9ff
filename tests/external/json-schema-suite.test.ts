import { afterAll, describe, expect, it } from "vitest";

import { suiteCommit } from "../../scripts/json-schema-suite.mjs";
import { judgeByAjv, judgeByPlugboard, judgeGroups, type Tally } from "./json-schema/judge.ts";
import pinnedRefusals from "./json-schema/refused.json" with { type: "json" };
import {
  type Draft,
  drafts,
  hasSuite,
  readGroups,
  reasonNotClaimed,
  type SuiteGroup,
} from "./json-schema/suite.ts";

/** Cases of the pinned commit: judged like the suite, refused with a reason, and not claimed. */
const pinnedCounts: Readonly<
  Record<Draft, readonly [right: number, refused: number, not: number]>
> = {
  "draft2020-12": [1_380, 81, 764],
  "draft2019-09": [1_361, 56, 757],
  draft7: [1_006, 29, 686],
  draft6: [918, 27, 325],
  draft4: [696, 21, 220],
};

const names = Object.keys(drafts) as Draft[];
const countCases = (groups: readonly SuiteGroup[]): number =>
  groups.reduce((count, { tests }) => count + tests.length, 0);
const describeTally = ({ right, wrong, refused }: Tally): string =>
  `${right} right, ${wrong.length} wrong, ${refused} refused`;

describe.skipIf(!hasSuite)("the official JSON Schema test suite", () => {
  const lines = [`JSON Schema test suite ${suiteCommit.slice(0, 12)}`];

  afterAll(() => {
    console.log(lines.join("\n"));
  });

  it.each(names)(
    "BRG-21: %s: every case is judged as the suite says, or refused",
    async (draft) => {
      const groups = readGroups(draft);
      const claimed = groups.filter((group) => reasonNotClaimed(group) === undefined);
      const tally = await judgeGroups(claimed, judgeByPlugboard);
      const notClaimed = countCases(groups) - countCases(claimed);
      lines.push(
        `${draft}: ${describeTally(tally)}, ${notClaimed} not claimed`,
        ...[...tally.refusals].map(
          ([reason, titles]) => `  refused, ${reason}: ${titles.length} schemas`,
        ),
      );
      expect(tally.wrong).toEqual([]);
      expect(Object.fromEntries(tally.refusals)).toEqual(pinnedRefusals[draft]);
      expect([tally.right, tally.refused, notClaimed]).toEqual(pinnedCounts[draft]);
    },
  );

  it("what is not claimed is optional, and says why", () => {
    const groups = names.flatMap((draft) => readGroups(draft));
    const reasons = new Map<string, number>();
    for (const group of groups) {
      const reason = reasonNotClaimed(group);
      if (reason === undefined) continue;
      expect(group.file).toMatch(/^optional\//);
      reasons.set(reason, (reasons.get(reason) ?? 0) + group.tests.length);
    }
    for (const [reason, count] of reasons) lines.push(`not claimed, ${reason}: ${count} cases`);
    expect(reasons.size).toBe(3);
  });

  it.each(names.filter((draft) => draft !== "draft4"))(
    "%s: Ajv, which reads the same cases, agrees with nearly all of them",
    async (draft) => {
      const claimed = readGroups(draft).filter((group) => reasonNotClaimed(group) === undefined);
      const tally = await judgeGroups(claimed, judgeByAjv(draft));
      lines.push(`${draft}: Ajv: ${describeTally(tally)}`);
      expect(tally.right / countCases(claimed)).toBeGreaterThan(0.9);
    },
  );
});
