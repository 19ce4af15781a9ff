// @ts-check
// A hostile MCP server over stdio: `node server.mjs <mode> [name=value …]`. Plain Node, no packages.
// Parameters are those of the mode, and `tag`, the name it gives itself.
import { serve } from "./line-server.mjs";
import { modes } from "./modes.mjs";

const [name = "", ...settings] = process.argv.slice(2);
const mode = modes[name];
if (mode === undefined) {
  process.stderr.write(`There is no mode "${name}"; there are: ${Object.keys(modes).join(", ")}\n`);
  process.exit(2);
}
const parameters = Object.fromEntries(
  settings.map((setting) => {
    const at = setting.indexOf("=");
    const value = setting.slice(at + 1);
    return [setting.slice(0, at), /^\d+(e\d+)?$/.test(value) ? Number(value) : value];
  }),
);
serve(String(parameters["tag"] ?? name), mode(parameters));
