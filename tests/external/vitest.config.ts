import { readFileSync } from "node:fs";
import path from "node:path";

import { defineConfig } from "vitest/config";

const root = path.resolve(import.meta.dirname, "../..");
const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

/** Every entry of the package by its name; none of them matches the beginning of another one. */
const entries = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === "string"
    ? []
    : [
        {
          find: new RegExp(`^${path.posix.join("plugboard", entry)}$`),
          replacement: path.join(root, target.default),
        },
      ],
);

/**
 * Judges from outside: real servers, suites and frameworks of the private manifest beside this file; and, on the
 * fallback core, the tests that talk to servers as a user of the package does, which `npm test` runs on our own.
 */
export default defineConfig({
  // Tests import the package by name, as a user does, and get what was built.
  resolve: { alias: entries },
  test: {
    globalSetup: ["tests/setup/before-all.ts"],
    setupFiles: ["tests/setup/throw-away-home.ts", "tests/setup/property-seed.ts"],
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "external",
          include: [
            "tests/external/*.test.ts",
            "tests/external/{bundles,frameworks,package}/*.test.ts",
          ],
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
      {
        extends: true,
        test: {
          name: "sdk",
          include: ["tests/{contract,direct,e2e,host}/**/*.test.ts"],
          env: { PLUGBOARD_PROTOCOL_CORE: "sdk" },
          // As in `vitest.config.ts`: what takes this long hangs.
          hookTimeout: 120_000,
          expect: { poll: { timeout: 100_000 } },
        },
      },
    ],
  },
});
