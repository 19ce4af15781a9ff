// @ts-check
import { forged } from "./id-modes.mjs";

const wrongVersions = ['"jsonrpc":"1.0",', '"jsonrpc":2.0,', '"jsonrpc":["2.0"],', ""];

/** Nested lists as JSON text. @param {number} depth */
function nested(depth) {
  return "[".repeat(depth) + "]".repeat(depth);
}

/** Where a line may be deep, `ID` standing for the id of the call. @type {Record<string, (deep: string) => string>} */
const deepLines = {
  result: (deep) =>
    `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"deep":${deep}}}}`,
  error: (deep) =>
    `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"deep","data":${deep}}}`,
  notification: (deep) =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${deep}}}`,
  id: (deep) => `{"jsonrpc":"2.0","id":${deep},"result":{"content":[]}}`,
  batch: (deep) => deep,
};

/** Answers that break the form of JSON or JSON-RPC. @type {Record<string, import("./modes.mjs").Mode>} */
export const shapeModes = {
  "result-and-error": () => ({
    onCall({ id }, peer) {
      const error = { code: -32_000, message: "forged" };
      peer.send({ jsonrpc: "2.0", id, result: forged("both"), error });
    },
  }),

  "wrong-jsonrpc": () => {
    let calls = 0;
    return {
      onCall({ id }, peer) {
        const version = wrongVersions[calls % wrongVersions.length];
        calls += 1;
        peer.line(
          `{${version}"id":${JSON.stringify(id)},"result":${JSON.stringify(forged("version"))}}`,
        );
      },
    };
  },

  batch: () => ({
    onCall({ id }, peer) {
      peer.send([{ jsonrpc: "2.0", id, result: forged("batch") }]);
    },
  }),

  "half-json-then-exit": () => ({
    onCall({ id }, peer) {
      peer.raw(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"te`);
      process.exit(0);
    },
  }),

  /** A line `depth` levels deep, at the place the call names. */
  "deep-json": ({ depth = 100_000 }) => ({
    onCall({ id, args }, peer) {
      const line = deepLines[args["where"]] ?? deepLines["result"];
      peer.line(line?.(nested(depth)).replace("ID", JSON.stringify(id)) ?? "");
    },
  }),
};
