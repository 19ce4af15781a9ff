import { echo } from "./echo-answers.mjs";

const verbs = [
  "list",
  "get",
  "create",
  "update",
  "search",
  "count",
  "export",
  "link",
  "tag",
  "move",
];
const nouns = [
  "issue",
  "invoice",
  "contact",
  "ticket",
  "deployment",
  "dashboard",
  "document",
  "meeting",
  "order",
  "branch",
  "payment",
  "campaign",
];

/**
 * The tools of one of many servers: `echo`, and others like those of real services, of about 800 bytes
 * each. Servers have names of tools in common, as real ones do.
 *
 * @param {number} server
 * @param {number} count
 * @returns {object[]}
 */
export const createTools = (server, count) => [
  echo,
  ...Array.from({ length: count - 1 }, (_, index) => createTool(server, index + 1)),
];

/** @param {number} server @param {number} index within the list of the server */
export function createTool(server, index) {
  const turn = server + Math.floor(index / verbs.length);
  const verb = verbs[index % verbs.length] ?? "";
  const noun = nouns[turn % nouns.length] ?? "";
  // From the second time round a number tells them apart.
  const series = Math.floor(index / (verbs.length * nouns.length));
  const isReading = ["list", "get", "search", "count", "export"].includes(verb);
  return {
    name: series === 0 ? `${verb}_${noun}` : `${verb}_${noun}_${series}`,
    title: `${verb} ${noun}`,
    description: `Can ${verb} one ${noun} or several of workspace ${server}. Returns them with their state, the people involved and when they changed.`,
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", minLength: 1, description: `Which ${noun}, as a list returned it.` },
        state: { enum: ["open", "closed", "all"], description: `Only a ${noun} in this state.` },
        fields: {
          type: "array",
          items: { type: "string" },
          maxItems: 20,
          description: "What to return of each; everything if it is left out.",
        },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "How many at most." },
      },
      required: ["id"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: isReading, idempotentHint: isReading, openWorldHint: false },
  };
}
