// @ts-check
import { offering } from "./definition-modes.mjs";
import { handshake } from "./line-server.mjs";
import { tool } from "./list-modes.mjs";

/** A schema that takes 2^n steps to whoever follows every way through it. @param {number} n */
function compositionBomb(n) {
  /** @type {Record<string, object>} */
  const $defs = { d0: { type: "object", required: ["missing"] } };
  for (let index = 1; index <= n; index += 1) {
    const ref = { $ref: `#/$defs/d${index - 1}` };
    $defs[`d${index}`] = { anyOf: [ref, { allOf: [ref] }] };
  }
  return { type: "object", allOf: [{ $ref: `#/$defs/d${n}` }], $defs };
}

/** As text: deeper than JSON is written by the runtime. @param {number} depth */
function deepSchema(depth) {
  const schema = `${'{"items":'.repeat(depth)}{}${"}".repeat(depth)}`;
  return `{"type":"object","properties":{"value":${schema}}}`;
}

const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

/** Schemas that cost too much, lead elsewhere, or are not kept. @type {Record<string, import("./modes.mjs").Mode>} */
export const schemaModes = {
  /** Patterns that make a backtracking engine try everything. */
  "redos-schema": () => {
    const patterns = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(?=a)^([a-zA-Z]+)*$"];
    return offering(
      patterns.map((pattern, index) => ({
        name: `redos_${index}`,
        inputSchema: { type: "object", properties: { value: { type: "string", pattern } } },
        outputSchema: { type: "object", properties: { value: { type: "string", pattern } } },
      })),
      {
        onCall: ({ id, args }, peer) =>
          peer.respond(id, {
            content: [],
            structuredContent: { value: "a".repeat(args["n"]) + "!" },
          }),
      },
    );
  },

  "composition-bomb": ({ n = 24 }) =>
    offering([
      { name: "bomb", inputSchema: compositionBomb(n) },
      { ...tool("bomb_in_result"), outputSchema: compositionBomb(n) },
    ]),

  "deep-schema": ({ depth = 150 }) => {
    const deep = `{"name":"deep","inputSchema":${deepSchema(depth)}}`;
    const plain = JSON.stringify(tool("deep_result")).slice(0, -1);
    const moreTools = `${deep},${plain},"outputSchema":${deepSchema(depth)}}`;
    return { ...offering([]), moreTools };
  },

  "self-ref-schema": () =>
    offering([
      { name: "itself", inputSchema: { type: "object", $ref: "#" } },
      { name: "all_of_itself", inputSchema: { type: "object", allOf: [{ $ref: "#" }] } },
      {
        name: "in_turn",
        inputSchema: {
          type: "object",
          $ref: "#/$defs/a",
          $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
        },
      },
    ]),

  /** Everything that names an address names `url`. */
  "remote-ref-schema": ({ url = "" }) => {
    const icons = [{ src: `${url}/icon.png`, sizes: ["48x48"] }];
    const server = {
      ...handshake("hostile"),
      serverInfo: { name: "hostile", version: "1", icons },
    };
    return offering(
      [
        { name: "ref", icons, inputSchema: { type: "object", $ref: `${url}/ref.json` } },
        {
          name: "below",
          inputSchema: { type: "object", properties: { a: { $ref: `${url}/below.json#/x` } } },
        },
        {
          name: "dialect",
          inputSchema: { $schema: `${url}/schema.json`, type: "object" },
        },
        {
          name: "id",
          inputSchema: {
            $id: `${url}/id.json`,
            type: "object",
            properties: { a: { $ref: "other.json" } },
          },
        },
        {
          name: "dynamic",
          inputSchema: { type: "object", $dynamicRef: `${url}/dynamic.json#x` },
        },
        { ...tool("result"), outputSchema: { type: "object", $ref: `${url}/result.json` } },
      ],
      { methods: { initialize: (id, _params, peer) => peer.respond(id, server) } },
    );
  },

  /** Schemas of one name, each asking for a value of its own `type`. */
  "schema-id-collision": ({ type = "string" }) => {
    const $id = "https://example.com/the-same";
    const other = type === "string" ? "number" : "string";
    return offering(
      [type, other].map((own, index) => ({
        name: `pick_${index}`,
        inputSchema: { $id, type: "object", properties: { value: { type: own } } },
      })),
    );
  },

  /** Promises a number and returns what the call wants. */
  "output-schema-lie": () =>
    offering([{ ...tool("lie"), outputSchema: number }], {
      onCall({ id, args }, peer) {
        const content = [{ type: "text", text: "the answer" }];
        const { structured } = args;
        const result = structured === undefined ? {} : { structuredContent: structured };
        peer.respond(id, { content, ...result });
      },
    }),
};
