import { afterAll, describe, expect, it } from "vitest";

import { describeRuns, type RunReport } from "./conformance/describe-runs.ts";
import expectedFailures from "./conformance/expected-failures.json" with { type: "json" };
import { judge } from "./conformance/judge.ts";
import {
  listScenarios,
  runScenario,
  type ScenarioRun,
  suiteNode,
  suiteVersion,
} from "./conformance/suite.ts";

/** The file of expected failures may only shrink: what is not listed here may not enter it. */
const everExpected: ReadonlySet<string> = new Set([
  "sep-2640-client-no-prefetch 2026-07-28",
  "sep-2640-client-verify-digest 2026-07-28",
  "sep-2640-client-verify-size 2026-07-28",
  "sep-2640-client-verify-frontmatter 2026-07-28",
]);

/** Measures to 200 ms when the client comes back, so nothing runs beside it. */
const timedScenarios: ReadonlySet<string> = new Set(["sse-retry"]);

const title = ({ scenario, wire }: ScenarioRun): string => `${scenario} ${wire}`;
const expected = new Set(expectedFailures.map(title));

const node = suiteNode();
const scenarios = node === undefined ? [] : await listScenarios(node);
const runs = scenarios.flatMap(({ name, wires }) =>
  wires.map((wire) => ({ scenario: name, wire })),
);

describe.skipIf(node === undefined)("the official conformance suite, client scenarios", () => {
  const reports = new Map<string, RunReport>(
    runs.map((run) => [title(run), { ...run, state: "not run" }]),
  );

  afterAll(() => {
    const lines = describeRuns(scenarios, [...reports.values()]);
    console.log([`conformance suite ${suiteVersion()}`, ...lines].join("\n"));
  });

  async function judgeRun(run: ScenarioRun): Promise<void> {
    const verdict = await runScenario(node ?? "", run);
    const isExpected = expected.has(title(run));
    if (verdict.passed) {
      reports.set(title(run), { ...run, state: isExpected ? "PASSES" : "pass" });
      if (isExpected) expect.fail("it passes: remove it from expected-failures.json");
    } else {
      reports.set(title(run), { ...run, state: isExpected ? "expected" : "FAIL" });
      if (!isExpected) expect.fail(verdict.reason);
    }
  }

  it("B-P3: has scenarios on every revision that is spoken", () => {
    expect(runs.length).toBeGreaterThanOrEqual(75);
    expect([...new Set(runs.map(({ wire }) => wire))].toSorted()).toEqual([
      "2025-03-26",
      "2025-06-18",
      "2025-11-25",
      "2026-07-28",
    ]);
  });

  it("the expected failures only shrink, and each is a scenario that runs", () => {
    expect([...expected].filter((entry) => !everExpected.has(entry))).toEqual([]);
    expect([...expected].filter((entry) => !reports.has(entry))).toEqual([]);
  });

  const titled = (isTimed: boolean): readonly (readonly [string, ScenarioRun])[] =>
    runs
      .filter(({ scenario }) => timedScenarios.has(scenario) === isTimed)
      .map((run) => [title(run), run]);
  it.concurrent.each(titled(false))("B-P3: %s", (_, run) => judgeRun(run));
  it.each(titled(true))("B-P3: %s", (_, run) => judgeRun(run));
});

describe("the verdict on a scenario", () => {
  const success = { id: "a", status: "SUCCESS", description: "" } as const;

  it("is a pass when something of it was judged and found right", () => {
    expect(judge({ exitCode: 0, checks: [success], output: "" })).toEqual({ passed: true });
  });

  it("is no pass when nothing but the messages as such was judged", () => {
    const skipped = { ...success, status: "SKIPPED" } as const;
    const generic = { ...success, id: "wire-schema-valid" };
    for (const checks of [[], [skipped], [skipped, generic]])
      expect(judge({ exitCode: 0, checks, output: "" })).toEqual({
        passed: false,
        reason: "nothing was judged",
      });
  });

  it("is no pass when the suite says so, and tells what it said", () => {
    const failure = { id: "b", status: "FAILURE", description: "", errorMessage: "late" } as const;
    const verdict = judge({
      exitCode: 1,
      checks: [success, failure],
      output: "\u001b[31mred\u001b[0m",
    });
    expect(verdict).toEqual({
      passed: false,
      reason: "the suite ended with 1\nFAILURE b late\nred",
    });
  });
});
