// @ts-check
import { readFileSync } from "node:fs";

import { renderLine } from "./mutated-line.mjs";

/** @typedef {{ readonly lines: readonly import("./mutated-line.mjs").LineScript[], readonly isAnswered: boolean }} CallScript */

/** Lines that were changed on the way. @type {Record<string, import("./modes.mjs").Mode>} */
export const mutationModes = {
  /** Each call names its entry in `file`, a JSON list of what to send before the right answer. */
  "mutated-lines": ({ file }) => {
    /** @type {readonly CallScript[]} */
    const scripts = JSON.parse(readFileSync(String(file), "utf8"));
    return {
      onCall(call, peer) {
        const { id, args } = call;
        const script = scripts[args["script"]];
        const context = { id, otherId: Number(id) - 1, text: String(args["nonce"]) };
        for (const line of script?.lines ?? []) peer.raw(renderLine(line, context));
        if (script?.isAnswered) peer.answer(call);
      },
    };
  },
};
