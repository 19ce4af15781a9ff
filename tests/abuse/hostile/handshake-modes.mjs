// @ts-check
import { handshake } from "./line-server.mjs";
import { tool } from "./list-modes.mjs";
import { discovery, modernMethods } from "./modern-answers.mjs";
import { note } from "./note.mjs";

const unsupportedVersion = -32_022;

/** @param {unknown} id */
function versionRefusal(id) {
  const data = { supported: discovery.supportedVersions, requested: "2026-07-28" };
  return { jsonrpc: "2.0", id, error: { code: unsupportedVersion, message: "Unsupported", data } };
}

/** Handshakes and answers that break what was agreed. A `diary` hears of each request, with the process. @type {Record<string, import("./modes.mjs").Mode>} */
export const handshakeModes = {
  "wrong-version": ({ version = "1999-01-01" }) => ({
    methods: {
      initialize: (id, _params, peer) =>
        peer.respond(id, { ...handshake(peer.tag), protocolVersion: version }),
    },
  }),

  /** Errors that name no request, around the right answer. */
  "null-id-errors": ({ n = 3 }) => ({
    onCall(call, peer) {
      const error = { code: -32_700, message: "Parse error" };
      for (let index = 0; index < n; index += 1) peer.send({ jsonrpc: "2.0", id: null, error });
      peer.answer(call);
      peer.send({ jsonrpc: "2.0", error });
    },
  }),

  /** A result of a kind that nobody knows. */
  "unknown-result-type": ({ diary }) => ({
    methods: modernMethods,
    onCall({ id }, peer) {
      note(diary, `${process.pid} tools/call`);
      peer.respond(id, { content: [], resultType: "surprise" });
    },
  }),

  /** Agrees to the modern revision and then refuses every request because of it. */
  "version-liar": ({ diary }) => {
    /** @param {string} method @returns {NonNullable<import("./line-server.mjs").Behaviour["methods"]>[string]} */
    const refuse = (method) => (id, _params, peer) => {
      note(diary, `${process.pid} ${method}`);
      peer.send(versionRefusal(id));
    };
    return {
      methods: {
        "server/discover": (id, _params, peer) => {
          note(diary, `${process.pid} server/discover`);
          peer.respond(id, discovery);
        },
        ...Object.fromEntries(
          ["initialize", "tools/list", "tools/call"].map((method) => [method, refuse(method)]),
        ),
      },
    };
  },

  /** Refuses the revision and names the very same as the one to use, for ever. */
  "version-loop": ({ diary }) => ({
    methods: Object.fromEntries(
      ["server/discover", "initialize"].map((method) => [
        method,
        (id, _params, peer) => {
          note(diary, `${process.pid} ${method}`);
          peer.send(versionRefusal(id));
        },
      ]),
    ),
  }),

  /** Every call changes the list and says so. */
  "changing-tools": () => {
    let version = 0;
    return {
      onCall(call, peer) {
        version += 1;
        peer.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
        peer.answer(call);
      },
      methods: {
        "tools/list": (id, _params, peer) =>
          peer.respond(id, { tools: [tool("echo"), tool("attack"), tool(`version-${version}`)] }),
      },
    };
  },
};
