// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import {
  forgetSurvivors,
  readResult,
  renderReport,
  wantedScore,
} from "../tests/mutation/report.mjs";
import { rooms } from "../tests/mutation/rooms.mjs";
import { bootstrap, bootstrapFolder } from "./bootstrap.mjs";
import { main, root, run, ScriptError } from "./run.mjs";

const folder = path.join(root, "tests", "mutation");
const stryker = path.join(folder, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
const reportFile = path.join(folder, "results", "report.md");

/**
 * Usage: `npm run test:mutation -- [room …] [--force]`, every room when none is named. A mutant that was
 * killed is not run again while neither its code nor the test that killed it changes; `--force` runs all.
 */
await main(async () => {
  const words = process.argv.slice(2);
  const options = words.filter((word) => word.startsWith("-"));
  const names = words.filter((word) => !word.startsWith("-"));
  for (const name of names)
    if (!rooms.some((room) => room.name === name))
      throw new ScriptError(
        `no room "${name}"; there are ${rooms.map((it) => it.name).join(", ")}`,
      );
  await bootstrap({ build: false });
  await bootstrapFolder("tests/mutation");
  mkdirSync(path.dirname(reportFile), { recursive: true });

  const results = [];
  for (const { name } of rooms) {
    if (names.length > 0 && !names.includes(name)) continue;
    forgetSurvivors(name);
    const { code } = await run(
      process.execPath,
      [stryker, "run", "tests/mutation/stryker.config.mjs", ...options],
      { env: { ...process.env, MUTATION_ROOM: name } },
    );
    if (code !== 0) throw new ScriptError(`the mutation run of ${name} failed (exit code ${code})`);
    results.push(readResult(name));
  }
  const report = renderReport(results);
  writeFileSync(reportFile, report);
  console.log(report);
  const low = results.filter(({ score }) => score < wantedScore).map(({ room }) => room);
  if (low.length > 0) throw new ScriptError(`below ${wantedScore} %: ${low.join(", ")}`);
});
