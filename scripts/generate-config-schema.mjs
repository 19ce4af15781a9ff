// Writes schema/mcp.json from the table of configuration keys. A test compares the two.
import { writeFileSync } from "node:fs";

import { tsImport } from "tsx/esm/api";

/** @type {typeof import("../src/config/keys/json-schema.ts")} */
const { configJsonSchema } = await tsImport("../src/config/keys/json-schema.ts", import.meta.url);
const file = new URL("../schema/mcp.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
