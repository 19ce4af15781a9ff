// @ts-check
// A hostile MCP server over stdio: `node server.mjs <mode> [name=value …]`. Plain Node, no packages.
// Parameters are those of the mode, `tag`, the name it gives itself, and `lifeMs`, when it ends by itself.
import { serve } from "./line-server.mjs";
import { modes } from "./modes.mjs";
import { readCommandLine } from "./read-command-line.mjs";

const { name, mode, parameters } = readCommandLine(modes);
serve(String(parameters["tag"] ?? name), mode(parameters), parameters["lifeMs"]);
