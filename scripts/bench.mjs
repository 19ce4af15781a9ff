// @ts-check
import { bootstrap, bootstrapFolder } from "./bootstrap.mjs";
import { main, run } from "./run.mjs";

await main(async () => {
  await bootstrap();
  await bootstrapFolder("bench");
  await bootstrapFolder("bench/newer-node");
  const { code } = await run(process.execPath, ["bench/run.mjs", ...process.argv.slice(2)]);
  return code;
});
