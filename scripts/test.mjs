// @ts-check
import { bootstrap } from "./bootstrap.mjs";
import { runBuild, runChecks } from "./check.mjs";
import { ensureForeignPrograms } from "./debian-packages.mjs";
import { runVitest, testMain } from "./run-vitest.mjs";

await testMain(async () => {
  const filters = process.argv.slice(2);
  await bootstrap({ build: false });
  await ensureForeignPrograms();
  // Who names some tests wants those; the checks have a command of their own.
  const failedSteps = await (filters.length > 0 ? runBuild() : runChecks());
  const counts = await runVitest(filters);
  return { ...counts, failed: counts.failed + failedSteps };
});
