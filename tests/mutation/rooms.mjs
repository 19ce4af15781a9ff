// @ts-check

/**
 * @typedef {object} Room
 * @property {string} name what the command line calls it
 * @property {string} sources the folder whose code is changed
 * @property {readonly string[]} tests which tests judge; earlier ones run first
 */

/**
 * The rooms that decide what an agent may do and what leaves the host. The unit tests of a room judge it, because
 * tests of whole hosts take seconds for every mutant.
 *
 * @type {readonly Room[]}
 */
export const rooms = [
  { name: "policy", sources: "src/policy", tests: ["src/policy"] },
  { name: "redaction", sources: "src/text/secrets", tests: ["src/text/secrets"] },
  { name: "human", sources: "src/human", tests: ["src/human"] },
  { name: "grants", sources: "src/grants", tests: ["src/grants"] },
  { name: "pins", sources: "src/pins", tests: ["src/pins"] },
  { name: "call", sources: "src/call", tests: ["src/call"] },
  {
    name: "approval",
    sources: "src/approval",
    // Tables of names and options are most of the room, and what judges them is quick.
    tests: [
      "src/approval/find-packages.test.ts",
      "src/approval/launch-facts.test.ts",
      "src/approval",
    ],
  },
  {
    name: "rights",
    sources: "src/session/rights",
    // Without the property of the judge, which takes too long for every mutant.
    tests: ["tool-judge", "call-consent", "event-audience", "child-rights"].map(
      (name) => `src/session/rights/${name}.test.ts`,
    ),
  },
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
