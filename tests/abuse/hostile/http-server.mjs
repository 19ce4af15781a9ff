// @ts-check
// A hostile MCP server over HTTP: `node http-server.mjs <mode> [name=value …]`, with a channel to the
// process that started it. Plain Node, no packages. Parameters are those of the mode, and
// `at=handshake` (it attacks from the first request on), `lifeMs` (when it ends by itself).
import { httpModes } from "./http-modes.mjs";
import { serveHttp } from "./http-site.mjs";
import { readCommandLine } from "./read-command-line.mjs";

const { mode, parameters } = readCommandLine(httpModes);
await serveHttp(mode(parameters), parameters);
