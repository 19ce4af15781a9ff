import path from "node:path";

import { defineConfig } from "vitest/config";

const built = (file: string): string => path.resolve(import.meta.dirname, "../../dist", file);

/** Judges from outside: real servers, suites and frameworks of the private manifest beside this file. */
export default defineConfig({
  // Tests import the package by name, as a user does, and get what was built.
  resolve: {
    alias: {
      "plugboard/adapters": built("adapters/index.js"),
      "plugboard/testing": built("testing/index.js"),
      plugboard: built("index.js"),
    },
  },
  test: {
    setupFiles: ["tests/setup/throw-away-home.ts"],
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "external",
          include: ["tests/external/*.test.ts", "tests/external/frameworks/*.test.ts"],
        },
      },
      {
        extends: true,
        // The same tests and programs with the major version after the one that the others run with.
        resolve: { alias: { ai: "ai7", openai: "openai7" } },
        test: {
          name: "next-majors",
          include: ["tests/external/frameworks/{ai-sdk,openai}.test.ts"],
        },
      },
    ],
  },
});
