import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { currentRoom } from "./rooms.mjs";

const { tests } = currentRoom();

/** Runs the files in the order of the room: the first failure ends a run, and quick tests come first. */
class RoomOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      tests.findIndex((folder) => moduleId.includes(`/${folder}`));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  plugins: [
    {
      name: "tests-in-processes",
      // Stryker asks for threads, which share the real HOME whatever a suite says.
      configureVitest({ project }) {
        project.config.pool = "forks";
      },
    },
  ],
  test: {
    include: tests.map((it) => (it.endsWith(".test.ts") ? it : `${it}/**/*.test.ts`)),
    setupFiles: ["tests/setup/throw-away-home.ts", "tests/setup/property-seed.ts"],
    sequence: { sequencer: RoomOrder },
    // Each mutant has a process of its own, which loads the modules once for all files.
    isolate: false,
    // A mutant that waits for ever fails by these, before Stryker gives the whole process up.
    testTimeout: 15_000,
    hookTimeout: 15_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
