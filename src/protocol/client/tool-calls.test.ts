import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { requestText } from "../wire/json-rpc.ts";
import { ToolParamsText } from "./tool-calls.ts";

const json = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 4 });

describe("the text of a call that is put together from pieces", () => {
  it("says what the message says, whatever the name, the arguments and the envelope are", () => {
    const id = fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.maxSafeNat());
    const names = fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        id,
        names,
        json,
        fc.option(json, { nil: undefined }),
        (start, all, args, meta) => {
          const texts = new ToolParamsText(meta);
          for (const [index, name] of [...all, ...all].entries()) {
            const sent = start + index;
            const params = { name, arguments: args, ...(meta !== undefined && { _meta: meta }) };
            const text = requestText(sent, "tools/call", texts.of(name, JSON.stringify(args)));
            expect(text).toBe(
              JSON.stringify({ jsonrpc: "2.0", id: sent, method: "tools/call", params }),
            );
          }
        },
      ),
    );
  });
});
