// @ts-check

/** A text of `bytes`. @param {number} bytes */
function filler(bytes) {
  return "0123456789abcdef".repeat(Math.ceil(bytes / 16)).slice(0, bytes);
}

const blockBytes = 50;

/** What takes the most memory and the most time of all JSON of a size. @type {Record<string, (bytes: number) => string>} */
const dense = {
  lists: (bytes) => `[${"[],".repeat(bytes / 3)}0]`,
  keys: (bytes) => {
    const members = ['"":0'];
    for (let length = 0, index = 0; length < bytes; index += 1) {
      const member = `"${index.toString(36)}":0`;
      members.push(member);
      length += member.length + 1;
    }
    return `{${members.join(",")}}`;
  },
};

/** Answers larger than anybody wants; calls say how large. @type {Record<string, import("./modes.mjs").Mode>} */
export const sizeModes = {
  /** Many small blocks of text. */
  "huge-content-array": () => ({
    onCall({ id, args }, peer) {
      const block = { type: "text", text: filler(blockBytes) };
      const content = Array.from({ length: args["bytes"] / blockBytes }, () => block);
      peer.respond(id, { content });
    },
  }),

  /** JSON that is hard on whoever parses it, of the `kind` the call names. */
  "dense-json": () => ({
    onCall({ id, args }, peer) {
      const value = dense[args["kind"]]?.(args["bytes"]);
      const result = `{"content":[],"structuredContent":{"value":${value}}}`;
      peer.line(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    },
  }),

  /** An error of the protocol or, with `where: "tool"`, of the tool. */
  "huge-error": () => ({
    onCall({ id, args }, peer) {
      const text = filler(args["bytes"]);
      if (args["where"] === "tool")
        peer.respond(id, { content: [{ type: "text", text }], isError: true });
      else peer.send({ jsonrpc: "2.0", id, error: { code: -32_000, message: text } });
    },
  }),
};
