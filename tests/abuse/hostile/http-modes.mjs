// @ts-check
import { httpEndModes } from "./http-end-modes.mjs";
import { httpReplyModes } from "./http-reply-modes.mjs";
import { httpSizeModes } from "./http-size-modes.mjs";
import { httpStreamModes } from "./http-stream-modes.mjs";
import { httpTimeModes } from "./http-time-modes.mjs";
import { toxicModes } from "./http-toxic-modes.mjs";
import { httpWitnessModes } from "./http-witness-modes.mjs";
import { sessionModes } from "./session-modes.mjs";

/**
 * @callback HttpMode makes the behaviour of one server process
 * @param {Readonly<Record<string, any>>} parameters numbers where they look like numbers
 * @returns {import("./http-site.mjs").HttpBehaviour}
 */

/** Every way to misbehave over HTTP, by name. @type {Record<string, HttpMode>} */
export const httpModes = {
  ...httpReplyModes,
  ...httpTimeModes,
  ...httpEndModes,
  ...httpSizeModes,
  ...httpStreamModes,
  ...toxicModes,
  ...sessionModes,
  ...httpWitnessModes,
};
