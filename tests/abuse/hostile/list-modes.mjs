// @ts-check
import { handshake } from "./line-server.mjs";

/** @param {string} name */
export function tool(name) {
  return { name, inputSchema: { type: "object" } };
}

const own = [tool("echo"), tool("attack")];
const change = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n';
const changesPerPiece = 1_000;

/**
 * A list in pages, each made from its number, which begins with one; a call tells how many were asked for.
 *
 * @param {(page: number) => object} makePage
 * @returns {import("./line-server.mjs").Behaviour}
 */
function paged(makePage) {
  let pages = 0;
  return {
    onCall: ({ id }, peer) => peer.respond(id, { content: [], structuredContent: { pages } }),
    methods: {
      "tools/list": (id, _params, peer) => {
        pages += 1;
        peer.respond(id, makePage(pages));
      },
    },
  };
}

/** @param {number} count */
function* changes(count) {
  for (let left = count; left > 0; left -= changesPerPiece)
    yield change.repeat(Math.min(left, changesPerPiece));
}

/** Lists that are too long, never end, or change too often. @type {Record<string, import("./modes.mjs").Mode>} */
export const listModes = {
  /** Its last page names the first again. */
  "cursor-loop": () =>
    paged((page) => ({
      tools: page === 1 ? own : [tool(`page-${page}`)],
      nextCursor: page % 2 === 0 ? "a" : "b",
    })),

  /** Always one page more. */
  "infinite-paging": () =>
    paged((page) => ({
      tools: page === 1 ? own : [tool(`page-${page}`)],
      nextCursor: `page ${page + 1}`,
    })),

  /** Always one page more, and nothing on it. */
  "empty-pages": () =>
    paged((page) => ({ tools: page === 1 ? own : [], nextCursor: `page ${page + 1}` })),

  /** Three pages; the cursor to the second and to the third is the empty text. */
  "empty-cursor": () =>
    paged((page) => ({
      tools: [own[page - 1] ?? tool("third")],
      ...(page < 3 ? { nextCursor: "" } : {}),
    })),

  /** `n` tools, all at once or in pages of `each`. */
  "huge-tool-list": ({ n = 100_000, each = n }) =>
    paged((page) => {
      const start = (page - 1) * each;
      const length = Math.min(each, n - start);
      const tools = Array.from({ length }, (_, index) => tool(`tool-${start + index}`));
      return {
        tools: page === 1 ? [...own, ...tools] : tools,
        ...(start + length < n ? { nextCursor: String(page + 1) } : {}),
      };
    }),

  /** Says as often as the call wants that its list changed; each call tells how often it was asked for it. */
  "list-changed-storm": () => {
    const counts = { lists: 0, listsSinceStorm: 0 };
    return {
      async onCall({ id, args }, peer) {
        const count = args["n"] ?? 0;
        await peer.pour(changes(count));
        if (count > 0) counts.listsSinceStorm = 0;
        peer.respond(id, { content: [], structuredContent: counts });
      },
      methods: {
        initialize: (id, _params, peer) =>
          peer.respond(id, handshake(peer.tag, { listChanged: true })),
        "tools/list": (id, _params, peer) => {
          counts.lists += 1;
          counts.listsSinceStorm += 1;
          peer.respond(id, { tools: own });
        },
      },
    };
  },
};
