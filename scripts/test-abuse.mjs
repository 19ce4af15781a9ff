// @ts-check
import { bootstrap } from "./bootstrap.mjs";
import { testMain } from "./run-vitest.mjs";

await testMain(async () => {
  await bootstrap();
  // Not before the dependencies are there.
  const { tsImport } = await import("tsx/esm/api");
  const { runAbuse } = await tsImport("../tests/abuse/run-abuse.ts", import.meta.url);
  return await runAbuse(process.argv.slice(2));
});
