// @ts-check
/** @typedef {import("./line-server.mjs").Call} Call */

/** What nobody may ever receive. @param {string} how */
export function forged(how) {
  return { content: [{ type: "text", text: `forged ${how}` }] };
}

/** Ids that belong to no open request, the next one to be used among them. @param {any} id */
function unmatchedIds(id) {
  return [id + 1, id + 1_000, -id, id + 0.5, 2 ** 53, "nobody"];
}

/** Ids that a lenient comparison takes for `id`. @param {any} id */
function confusableIds(id) {
  return [String(id), ` ${id} `, `0x${id.toString(16)}`, `${id}.0`, [id], { id }, true, null];
}

/** Answers to requests nobody made. @type {Record<string, import("./modes.mjs").Mode>} */
export const idModes = {
  /** `n` answers under ids that are not open, then the right one. */
  "unmatched-ids": ({ n = 3 }) => ({
    onCall(call, peer) {
      const ids = unmatchedIds(call.id);
      for (let index = 0; index < n; index += 1)
        peer.respond(ids[index % ids.length], forged("unmatched"));
      peer.answer(call);
    },
  }),

  /** Answers under ids of other types; the right one only with `right=1`. */
  "id-type-confusion": ({ right = 1 }) => ({
    onCall(call, peer) {
      for (const id of confusableIds(call.id)) peer.respond(id, forged("confused"));
      if (right === 1) peer.answer(call);
    },
  }),

  /** The right answer, then `n` others and an error under the same id. */
  "duplicate-responses": ({ n = 2 }) => ({
    onCall(call, peer) {
      peer.answer(call);
      for (let copy = 0; copy < n; copy += 1) peer.respond(call.id, forged("duplicate"));
      peer.send({ jsonrpc: "2.0", id: call.id, error: { code: -32_000, message: "forged" } });
    },
  }),

  /**
   * Waits for two calls and gives each the other's answer; then answers ids that may be open on the
   * connection to another server, since everyone counts from one.
   */
  "swapped-responses": () => {
    /** @type {Call | undefined} */
    let waiting;
    return {
      onCall(call, peer) {
        if (waiting === undefined) {
          waiting = call;
          return;
        }
        const [first, second] = [waiting, call];
        waiting = undefined;
        peer.respond(first.id, peer.result(second));
        peer.respond(second.id, peer.result(first));
        const text = `${peer.tag} to nobody`;
        peer.respond(Number(second.id) + 1, { content: [{ type: "text", text }] });
      },
    };
  },
};
