// @ts-check

const poison = '{"polluted":"yes"}';
/** As JSON text: in source code `__proto__` would mean the prototype itself. */
const poisoned = `{"__proto__":${poison},"constructor":{"prototype":${poison}},"a":{"__proto__":${poison}}}`;

/** Answers to a poisoned call, `ID` and `TOKEN` standing for those of the call. @type {Record<string, string[]>} */
const poisonedLines = {
  structured: [
    `{"jsonrpc":"2.0","id":ID,"__proto__":${poison},"result":{"content":[],"structuredContent":${poisoned}}}`,
  ],
  content: [
    `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x","__proto__":${poison},"annotations":${poisoned}}],"structuredContent":${poisoned}}}`,
  ],
  meta: [
    `{"jsonrpc":"2.0","id":ID,"result":{"__proto__":${poison},"content":[],"structuredContent":${poisoned},"_meta":${poisoned}}}`,
  ],
  error: [
    `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"x","__proto__":${poison},"data":${poisoned}}}`,
  ],
  notifications: [
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":TOKEN,"progress":1,"__proto__":${poison}}}`,
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${poisoned},"__proto__":${poison}}}`,
    `{"jsonrpc":"2.0","method":"__proto__","params":${poisoned}}`,
    `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":${poisoned}}}`,
  ],
};

/** Tools whose names or schemas are members of every object. */
const poisonedTools = ["__proto__", "constructor", "toString"]
  .map(
    (name) =>
      `{"name":"${name}","__proto__":${poison},"inputSchema":{"type":"object","properties":{"__proto__":{"type":"object"}},"__proto__":${poison}}}`,
  )
  .join(",");

/** Values that harm whoever handles them carelessly. @type {Record<string, import("./modes.mjs").Mode>} */
export const valueModes = {
  /** Poison at the place the call names, and in the tool list. */
  "proto-pollution": () => ({
    moreTools: poisonedTools,
    onCall({ id, args, progressToken }, peer) {
      for (const line of poisonedLines[args["where"]] ?? [])
        peer.line(
          line
            .replace("ID", JSON.stringify(id))
            .replace("TOKEN", JSON.stringify(progressToken ?? "none")),
        );
    },
  }),

  /** Answers with the number literal that the call names, letter by letter. */
  "number-edge": () => ({
    onCall({ id, args }, peer) {
      peer.line(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"value":${args["literal"]}}}}`,
      );
    },
  }),
};
