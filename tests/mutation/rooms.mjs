// @ts-check

/**
 * @typedef {object} Room
 * @property {string} name what the command line calls it
 * @property {string} sources the folder whose code is changed
 * @property {readonly string[]} tests which tests judge; earlier ones run first
 */

/**
 * The rooms that decide what an agent may do and what leaves the host. Unit tests judge first; tests of
 * whole hosts judge where they alone see the decision, and only those that start few processes.
 *
 * @type {readonly Room[]}
 */
export const rooms = [
  { name: "policy", sources: "src/policy", tests: ["src/policy"] },
  { name: "redaction", sources: "src/text/secrets", tests: ["src/text/secrets"] },
  { name: "human", sources: "src/human", tests: ["src/human"] },
  { name: "pins", sources: "src/pins", tests: ["src/pins"] },
  { name: "approval", sources: "src/approval", tests: ["src/approval"] },
  {
    name: "grants",
    sources: "src/grants",
    tests: ["src/grants", "tests/host/grants.test.ts", "tests/host/allowances.test.ts"],
  },
  { name: "call", sources: "src/call", tests: ["src/call"] },
  { name: "rights", sources: "src/session/rights", tests: ["src/session/rights"] },
];

/** The room that `npm run test:mutation` names for the processes it starts. */
export function currentRoom() {
  const name = process.env["MUTATION_ROOM"];
  const room = rooms.find((it) => it.name === name);
  if (room === undefined) throw new Error(`MUTATION_ROOM names no room: ${name}`);
  return room;
}

/** @param {string} name @param {string} kind */
export const resultFile = (name, kind) => `tests/mutation/results/${name}.${kind}`;
