import { configDefaults, defineConfig } from "vitest/config";

/** What crosses rooms, with processes and servers. */
const acrossRooms = ["tests/**/*.test.ts", "examples/**/*.test.ts"];

const coreVariable = "PLUGBOARD_PROTOCOL_CORE";

/**
 * Who asks for the fallback by the variable gets every test on it. Without it, tests that must not depend on which core
 * speaks meet the fallback in `npm run test:external`.
 */
const isFallbackAsked = process.env[coreVariable] === "sdk";

export default defineConfig({
  test: {
    // It has a configuration and a command of its own.
    exclude: [...configDefaults.exclude, "tests/external/**"],
    globalSetup: ["tests/setup/before-all.ts"],
    setupFiles: ["tests/setup/throw-away-home.ts", "tests/setup/property-seed.ts"],
    // Hosts without a logger warn on stderr, which many tests provoke: only a failure needs to be read.
    silent: "passed-only",
    // Of two processors: more workers only make the machine swap between real child processes.
    maxWorkers: 2,
    // What takes this long hangs, on a machine as busy as one may be; no test judges a speed by it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts"],
          // No room keeps state in its modules, so they are loaded once for all of these files.
          isolate: false,
          env: isFallbackAsked ? { [coreVariable]: "sdk" } : {},
        },
      },
      {
        extends: true,
        test: {
          name: isFallbackAsked ? "sdk" : "core",
          include: acrossRooms,
          env: isFallbackAsked ? { [coreVariable]: "sdk" } : {},
        },
      },
    ],
  },
});
