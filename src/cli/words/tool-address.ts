import type { ToolOrigin } from "../../catalog/tool-origin.ts";
import { createError } from "../../errors/families.ts";
import { closest } from "../../text/closest.ts";
import { ownCommand } from "../../text/own-command.ts";

/**
 * Reads `<server>.<tool>`. Both may hold dots, so the longest known server name decides; where none
 * fits, the part that comes nearest to one is taken for the server.
 */
export function parseToolAddress(text: string, serverNames: readonly string[]): ToolOrigin {
  const splits = [...text.matchAll(/\./g)]
    .map(({ index }) => ({ server: text.slice(0, index), tool: text.slice(index + 1) }))
    .filter(({ server, tool }) => server !== "" && tool !== "");
  const [first] = splits;
  if (first === undefined) throw noToolNamed(text, serverNames);
  const known = splits.findLast(({ server }) => serverNames.includes(server));
  if (known !== undefined) return known;
  const meant = splits.findLast(({ server }) => closest(server, serverNames, 1).length > 0);
  return meant ?? first;
}

function noToolNamed(text: string, serverNames: readonly string[]): Error {
  const server = text.replace(/\.$/, "");
  if (serverNames.includes(server))
    return createError("invalid_arguments", `"${server}" is a server: name one of its tools, too`, {
      serverName: server,
      hint: `${ownCommand("tools", server)} lists them`,
    });
  return createError("invalid_arguments", `"${text.slice(0, 128)}" is no <server>.<tool>`, {
    hint: "plugboard tools lists what can be called",
  });
}
