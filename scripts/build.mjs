// @ts-check
import { bootstrap, exclusively } from "./bootstrap.mjs";
import { buildDist } from "./build-dist.mjs";
import { main } from "./run.mjs";

await main(async () => {
  await bootstrap({ build: false });
  await exclusively(buildDist);
});
