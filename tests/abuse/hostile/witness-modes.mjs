// @ts-check
import { modernMethods } from "./modern-answers.mjs";
import { note } from "./note.mjs";
import { isCall, witnessResult, witnessTools } from "./witness.mjs";

/** Servers that can be asked what they were told. @type {Record<string, import("./modes.mjs").Mode>} */
export const witnessModes = {
  /** Writes down every call as the line it came in. */
  witness: ({ diary, startAfterMs = 0 }) => ({
    startAfterMs,
    onLine(text) {
      if (isCall(text)) note(diary, text);
    },
    methods: {
      ...modernMethods,
      "tools/list": (id, _params, peer) => peer.respond(id, witnessTools()),
      "tools/call": (id, params, peer) => peer.respond(id, witnessResult(params)),
    },
  }),
};
