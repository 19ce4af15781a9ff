import { parseArgs } from "node:util";

import { createDemoServer } from "./demo-server.ts";
import { serveStdio } from "./serve/serve-stdio.ts";
import { servedEras } from "./serve/serve-transport.ts";
import { createTestServer } from "./test-server.ts";

// The program behind `demoServerEntry()` and `testServerEntry()`:
//   run-stdio demo|test [--era both|legacy|modern] [--page-size n]
// MCP_PAGE_SIZE in the environment is the page size when no argument gives one.
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { era: { type: "string" }, "page-size": { type: "string" } },
});
const pageSizeText = values["page-size"] ?? process.env["MCP_PAGE_SIZE"] ?? "";
const pageSize = pageSizeText === "" ? undefined : Number(pageSizeText);
const factory =
  positionals[0] === "test"
    ? createTestServer({ pageSize })
    : createDemoServer({ pageSize, crash });

// Not awaited, so that it can also be bundled as CommonJS; a failure ends the process all the same.
void serveStdio(factory, { era: servedEras.find((era) => era === values.era) });

function crash(): void {
  process.stderr.write("demo: crash was called, exiting with code 1\n", () => process.exit(1));
}
