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
  { name: "pins", sources: "src/pins", tests: ["src/pins", "tests/host/pins.test.ts"] },
  {
    name: "approval",
    sources: "src/approval",
    tests: ["src/approval", "tests/host/approval-requests.test.ts", "tests/host/approval.test.ts"],
  },
  {
    name: "grants",
    sources: "src/grants",
    tests: [
      "src/grants",
      "tests/host/grants.test.ts",
      "tests/host/allowances.test.ts",
      "tests/host/consent.test.ts",
    ],
  },
  {
    name: "call",
    sources: "src/call",
    tests: [
      "src/call",
      "tests/host/calls-not-begun.test.ts",
      "tests/host/native-schemas.test.ts",
      "tests/host/refused-schemas.test.ts",
      "tests/host/same-call-id.test.ts",
      "tests/host/call-path.test.ts",
      "tests/host/stream.test.ts",
      "tests/host/failure-table.test.ts",
      "tests/host/audit.test.ts",
    ],
  },
  {
    name: "rights",
    sources: "src/session/rights",
    tests: [
      "src/session/rights",
      "tests/host/capability-reach.test.ts",
      "tests/host/child-sessions.test.ts",
      "tests/host/content-consent.test.ts",
      "tests/host/consent.test.ts",
      "tests/host/allowances.test.ts",
      "tests/host/consent-races.test.ts",
      "tests/host/visibility.test.ts",
      "tests/host/event-privacy.test.ts",
    ],
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
