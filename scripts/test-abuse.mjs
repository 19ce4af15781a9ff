// @ts-check
import { readdirSync } from "node:fs";
import path from "node:path";

import { bootstrap } from "./bootstrap.mjs";
import { runVitest, testMain } from "./run-vitest.mjs";
import { root } from "./run.mjs";

await testMain(async () => {
  const folder = path.join(root, "tests", "abuse");
  const rows = readdirSync(folder, { recursive: true, encoding: "utf8" });
  if (!rows.some((file) => file.endsWith(".test.ts"))) {
    console.log("There are no abuse rows yet; nothing was run.");
    return { passed: 0, failed: 0, skipped: 0 };
  }
  await bootstrap();
  const args = process.argv.slice(2);
  const env = { ABUSE_LONG: args.includes("--long") ? "1" : "" };
  const filters = args.filter((arg) => arg !== "--long");
  return runVitest(["--config=tests/abuse/vitest.config.ts", ...filters], { env });
});
