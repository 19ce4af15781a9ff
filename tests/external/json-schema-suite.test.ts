import { afterAll, describe, expect, it } from "vitest";

import { judgeByAjv, judgeByPlugboard, judgeGroups, type Tally } from "./json-schema/judge.ts";
import pinnedCommits from "./json-schema/pinned-commits.json" with { type: "json" };
import {
  type Draft,
  drafts,
  readGroups,
  reasonNotClaimed,
  suite,
  type SuiteGroup,
} from "./json-schema/suite.ts";

/** What is known of one commit of the suite: its cases, and every schema that is refused, by reason. */
interface Pin {
  readonly right: number;
  readonly refused: number;
  readonly notClaimed: number;
  readonly refusals: Readonly<Record<string, readonly string[]>>;
}

const pins = pinnedCommits as Readonly<Record<string, Readonly<Record<Draft, Pin>>>>;

const names = Object.keys(drafts) as Draft[];
const countCases = (groups: readonly SuiteGroup[]): number =>
  groups.reduce((count, { tests }) => count + tests.length, 0);
const describeTally = ({ right, wrong, refused }: Tally): string =>
  `${right} right, ${wrong.length} wrong, ${refused} refused`;

describe.skipIf(suite === undefined)("the official JSON Schema test suite", () => {
  const lines = [`JSON Schema test suite ${suite?.commit.slice(0, 12)}`];

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
      const { right, refused, refusals } = tally;
      expect({ right, refused, notClaimed, refusals: Object.fromEntries(refusals) }).toEqual(
        pins[suite?.commit ?? ""]?.[draft],
      );
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
