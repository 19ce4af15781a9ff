import type { Scenario, ScenarioRun } from "./suite.ts";

export type RunState = "pass" | "FAIL" | "expected" | "PASSES" | "not run";

export interface RunReport extends ScenarioRun {
  readonly state: RunState;
}

/** One line per scenario and one column per revision, then the counts. */
export function describeRuns(
  scenarios: readonly Scenario[],
  reports: readonly RunReport[],
): readonly string[] {
  const wires = [...new Set(reports.map(({ wire }) => wire))].toSorted();
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  const row = (name: string, cells: readonly string[]): string =>
    [name.padEnd(width), ...cells.map((cell) => cell.padEnd(10))].join("  ").trimEnd();
  const stateOf = (scenario: string, wire: string): string =>
    reports.find((report) => report.scenario === scenario && report.wire === wire)?.state ?? "";
  const count = (...states: readonly RunState[]): number =>
    reports.filter(({ state }) => states.includes(state)).length;
  return [
    row("scenario", wires),
    ...scenarios.map(({ name }) =>
      row(
        name,
        wires.map((wire) => stateOf(name, wire)),
      ),
    ),
    `${count("pass")} passed, ${count("FAIL", "PASSES")} failed, ${count("expected")} failed as expected, ` +
      `${count("not run")} not run`,
  ];
}
