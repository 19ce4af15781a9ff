// @ts-check
import { tmpdir } from "node:os";
import path from "node:path";

import { currentRoom, resultFile } from "./rooms.mjs";

const { name, sources } = currentRoom();

/** Options of Stryker for one room. A copy of the repository is mutated, never the repository. */
export default {
  testRunner: "vitest",
  vitest: { configFile: "tests/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  mutate: [`${sources}/**/*.ts`, "!**/*.test.ts"],
  ignorePatterns: [
    "/dist",
    "/bench",
    "/docs",
    "/tests/external",
    "/tests/mutation/results",
    "/.bootstrap",
  ],
  // Beside the repository, so that no test run and no check of the repository finds the copy.
  tempDirName: path.join(tmpdir(), "plugboard-mutation"),
  cleanTempDir: "always",
  incremental: true,
  incrementalFile: resultFile(name, "incremental.json"),
  jsonReporter: { fileName: resultFile(name, "json") },
  reporters: ["json", "progress-append-only"],
  // Stryker would rewrite tsconfig.json by an interface that TypeScript 7 does not have; nothing here reads it.
  tsconfigFile: "tests/mutation/no-tsconfig.json",
  concurrency: Number(process.env["MUTATION_WORKERS"] ?? 1),
  // A busy machine is no infinite loop.
  timeoutMS: 25_000,
  timeoutFactor: 4,
  dryRunTimeoutMinutes: 20,
  allowConsoleColors: false,
};
