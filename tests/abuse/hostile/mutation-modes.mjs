// @ts-check
import { readFileSync } from "node:fs";

import { renderLine } from "./mutated-line.mjs";

/** @typedef {import("./mutated-line.mjs").CallScript} CallScript */

/** Lines that were changed on the way. @type {Record<string, import("./modes.mjs").Mode>} */
export const mutationModes = {
  /** Each call names its entry in `file`, a JSON list of what to send before the right answer. */
  "mutated-lines": ({ file }) => {
    /** @type {readonly CallScript[] | undefined} */
    let scripts;
    return {
      onCall(call, peer) {
        // Not before: the file may be written after the server was started.
        scripts ??= /** @type {CallScript[]} */ (JSON.parse(readFileSync(file, "utf8")));
        const { id, args } = call;
        const script = scripts[args["script"]];
        const context = { id, otherId: Number(id) - 1, text: String(args["nonce"]) };
        for (const line of script?.lines ?? []) peer.raw(renderLine(line, context));
        if (script?.isAnswered) peer.answer(call);
      },
    };
  },
};
