import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts", "examples/**/*.test.ts"],
    // It has a configuration and a command of its own.
    exclude: [...configDefaults.exclude, "tests/external/**"],
    setupFiles: ["tests/setup/throw-away-home.ts"],
    // Two cores: more workers only make the machine swap between real child processes.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
