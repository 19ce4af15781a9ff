// @ts-check
import { discovery } from "./modern-answers.mjs";
import { note } from "./note.mjs";
import { answering } from "./session-modes.mjs";
import { isCall, witnessResult, witnessTools } from "./witness.mjs";

/** Servers that can be asked what they were told. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const httpWitnessModes = {
  /**
   * Writes down every call as the body it came in. The path is repeated in a header that has another name
   * in each list, and the first try of every call has the wrong one, so that it is sent again.
   */
  witness: ({ diary }) => {
    /** @type {Set<string>} */
    const refused = new Set();
    let lists = 0;
    const header = () => `path-${lists % 2}`;
    return answering(({ method, params }, { headers }, body) => {
      if (method === "server/discover") return { body: { result: discovery } };
      if (method === "tools/list") {
        lists += 1;
        return { body: { result: witnessTools(header()) } };
      }
      if (!isCall(body)) return { body: { error: { code: -32_601, message: "Method not found" } } };
      note(diary, body);
      const { nonce, path } = params.arguments ?? {};
      // Only where the path is declared to be repeated.
      const isRepeated = typeof path === "string" && !["slow", "echo"].includes(params.name);
      const isFirst = isRepeated && !refused.has(nonce);
      refused.add(nonce);
      if (isFirst || (isRepeated && headers[`mcp-param-${header()}`] !== path))
        return { status: 400, body: { error: { code: -32_020, message: "Header mismatch" } } };
      return { body: { result: witnessResult(params) } };
    }, {});
  },
};
