// @ts-check
import { writeFileSync } from "node:fs";

/**
 * A vitest reporter that leaves the number of passed, failed and skipped tests in the file named by
 * `TEST_COUNTS_FILE`. Failures outside of any test (a file that cannot be loaded, a hook, an error
 * nobody caught) count as one failed test each, so that a red run never shows "0 failed".
 */
export default class CountReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const failedBefore = counts.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test that never ran to its end (interrupted) has not passed.
        counts[state === "pending" ? "failed" : state] += 1;
      }
      if (!module.ok() && counts.failed === failedBefore) counts.failed += 1;
    }
    const file = process.env["TEST_COUNTS_FILE"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(counts));
  }
}
