/** @param {string} name @param {string} client a file of `clients/` without its ending */
const variant = (name, client = name) => ({ name, options: { client } });

/** What most workloads compare. */
export const variants = [
  variant("floor"),
  variant("bare v2", "sdk-v2"),
  variant("plugboard"),
  variant("plugboard connectClient", "plugboard-client"),
];

export const peers = [
  variant("mcporter"),
  variant("@ai-sdk/mcp", "ai-sdk"),
  variant("@langchain/mcp-adapters", "langchain"),
];

export const signedIn = {
  name: "plugboard, signed in",
  options: { client: "plugboard-signed-in", needsToken: true },
};

/** @param {...string} names @returns {readonly import("./scenario.mjs").Variant[]} */
export const only = (...names) => variants.filter(({ name }) => names.includes(name));

/** Whether a variant runs a build of Plugboard. @param {import("./scenario.mjs").Variant} variant */
export const isPlugboard = ({ options: { client } }) =>
  ["plugboard", "plugboard-client", "plugboard-signed-in"].includes(String(client));

/** Budgets are about the whole host path unless they say otherwise. @template {object} T @param {readonly T[]} budgets */
export const ofPlugboard = (budgets) =>
  budgets.map((budget) => ({ variant: "plugboard", ...budget }));
