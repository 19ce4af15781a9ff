// @ts-check
import { idModes } from "./id-modes.mjs";
import { mutationModes } from "./mutation-modes.mjs";
import { progressModes } from "./progress-modes.mjs";
import { shapeModes } from "./shape-modes.mjs";
import { valueModes } from "./value-modes.mjs";

/**
 * @callback Mode makes the behaviour of one server process
 * @param {Readonly<Record<string, any>>} parameters numbers where they look like numbers
 * @returns {import("./line-server.mjs").Behaviour}
 */

/** Every way to misbehave, by name. A family of modes is a file; a mode is an entry of its table. @type {Record<string, Mode>} */
export const modes = {
  healthy: () => ({}),
  ...idModes,
  ...shapeModes,
  ...valueModes,
  ...progressModes,
  ...mutationModes,
};
