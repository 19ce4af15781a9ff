// @ts-check
import { bootstrap, bootstrapFolder } from "./bootstrap.mjs";
import { ensureJsonSchemaSuite } from "./json-schema-suite.mjs";
import { runVitest, testMain } from "./run-vitest.mjs";

await testMain(async () => {
  await bootstrap();
  await bootstrapFolder("tests/external");
  await ensureJsonSchemaSuite();
  return runVitest(["--config=tests/external/vitest.config.ts", ...process.argv.slice(2)]);
});
