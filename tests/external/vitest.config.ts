import { defineConfig } from "vitest/config";

/** Judges from outside: real servers and suites of the private manifest beside this file. */
export default defineConfig({
  test: {
    include: ["tests/external/*.test.ts"],
    setupFiles: ["tests/setup/throw-away-home.ts"],
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
