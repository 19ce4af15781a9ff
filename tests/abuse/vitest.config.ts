import { defineConfig } from "vitest/config";

/** Attacks and endurance, one at a time: the rows judge memory and processes of the whole machine. */
export default defineConfig({
  test: {
    include: ["tests/abuse/**/*.test.ts"],
    setupFiles: ["tests/setup/throw-away-home.ts"],
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
