// @ts-check
import { forged } from "./id-modes.mjs";

/** @param {unknown} progressToken @param {object} rest */
function progress(progressToken, rest) {
  return { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, ...rest } };
}

/** Reports that say nothing useful about `token`; each is answered by silence or not at all. @param {any} token */
function weirdReports(token) {
  return [
    progress(String(token), { progress: 1, message: "forged" }),
    progress([token], { progress: 1, message: "forged" }),
    progress(token + 1_000_000, { progress: 1, message: "forged" }),
    progress(undefined, { progress: 1, message: "forged" }),
    progress(token, { message: "forged" }),
    progress(token, { progress: "1", message: "forged" }),
    progress(token, { progress: null, message: "forged" }),
    { jsonrpc: "2.0", method: "notifications/progress", params: [token, 1] },
    { jsonrpc: "2.0", method: "notifications/progress" },
  ];
}

/** Reports instead of, beside and after answers. @type {Record<string, import("./modes.mjs").Mode>} */
export const progressModes = {
  /** Never an answer, only progress that grows: `n` reports, `each` at a time, `ms` apart. */
  "progress-flood": ({ n = 1_000_000, each = 200, ms = 0 }) => ({
    onCall({ progressToken }, peer) {
      let sent = 0;
      const burst = () => {
        const lines = [];
        for (let index = 0; index < each && sent < n; index += 1) {
          sent += 1;
          lines.push(JSON.stringify(progress(progressToken, { progress: sent })));
        }
        peer.line(lines.join("\n"));
        if (sent < n) next();
      };
      const next = () => (ms === 0 ? setImmediate(burst) : setTimeout(burst, ms));
      burst();
    },
  }),

  /** Two good reports among senseless ones, the answer, and then the same again. */
  "progress-weird": () => ({
    onCall(call, peer) {
      const { progressToken: token } = call;
      for (const report of weirdReports(token)) peer.send(report);
      peer.line(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(token)},"progress":1e400,"message":"forged"}}`,
      );
      peer.send(progress(token, { progress: 1, total: 2, message: "good" }));
      peer.send(progress(token, { progress: 0.5, message: "backwards" }));
      peer.send(progress(token, { progress: 1, message: "again" }));
      peer.send(progress(token, { progress: 2, total: "many", message: "good" }));
      peer.answer(call);
      peer.send(progress(token, { progress: 3, message: "late" }));
      for (const report of weirdReports(token)) peer.send(report);
    },
  }),

  /** Says nothing until the call is cancelled, and then everything. */
  "late-response": () => ({
    onNotification({ method, params }, peer) {
      if (method !== "notifications/cancelled") return;
      const id = params.requestId;
      peer.send(progress(id, { progress: 1, message: "late" }));
      peer.respond(id, forged("late"));
      peer.send({ jsonrpc: "2.0", id, error: { code: -32_000, message: "forged" } });
    },
    onCall() {},
  }),
};
