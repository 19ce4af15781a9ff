// @ts-check
import { bulkModes } from "./bulk-modes.mjs";
import { definitionModes } from "./definition-modes.mjs";
import { environmentModes } from "./environment-modes.mjs";
import { floodModes } from "./flood-modes.mjs";
import { handshakeModes } from "./handshake-modes.mjs";
import { idModes } from "./id-modes.mjs";
import { lifeModes } from "./life-modes.mjs";
import { listModes } from "./list-modes.mjs";
import { mutationModes } from "./mutation-modes.mjs";
import { progressModes } from "./progress-modes.mjs";
import { questionModes } from "./question-modes.mjs";
import { restartModes } from "./restart-modes.mjs";
import { roundModes } from "./round-modes.mjs";
import { schemaModes } from "./schema-modes.mjs";
import { shapeModes } from "./shape-modes.mjs";
import { sizeModes } from "./size-modes.mjs";
import { stderrModes } from "./stderr-modes.mjs";
import { streamModes } from "./stream-modes.mjs";
import { valueModes } from "./value-modes.mjs";
import { witnessModes } from "./witness-modes.mjs";

/**
 * @callback Mode makes the behaviour of one server process
 * @param {Readonly<Record<string, any>>} parameters numbers where they look like numbers
 * @returns {import("./line-server.mjs").Behaviour}
 */

/** Every way to misbehave, by name. A family of modes is a file; a mode is an entry of its table. @type {Record<string, Mode>} */
export const modes = {
  healthy: () => ({}),
  ...streamModes,
  ...idModes,
  ...shapeModes,
  ...valueModes,
  ...floodModes,
  ...stderrModes,
  ...progressModes,
  ...sizeModes,
  ...lifeModes,
  ...questionModes,
  ...restartModes,
  ...handshakeModes,
  ...listModes,
  ...roundModes,
  ...environmentModes,
  ...mutationModes,
  ...definitionModes,
  ...schemaModes,
  ...witnessModes,
  ...bulkModes,
};
