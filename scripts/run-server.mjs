// @ts-check
// The program behind a bundled server while the sources run: `dist` where it fits them, because it starts
// in a third of the time, else the sources themselves. The tests start hundreds of these servers.
import { isBuilt } from "./build-dist.mjs";

if (isBuilt()) {
  // By its address, because the types are checked before there is a build.
  await import(new URL("../dist/testing/run-stdio.js", import.meta.url).href);
} else {
  const { register } = await import("tsx/esm/api");
  register();
  await import("../src/testing/run-stdio.ts");
}
