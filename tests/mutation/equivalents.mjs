// @ts-check

/**
 * @typedef {object} Equivalent a mutant that no test can kill
 * @property {string} file
 * @property {string} original the code that is replaced
 * @property {string} replacement
 * @property {string} reason why the product behaves the same
 */

/**
 * @param {string} file
 * @param {string} reason
 * @param {readonly (readonly [original: string, replacement: string])[]} mutants
 * @returns {readonly Equivalent[]}
 */
const equivalent = (file, reason, mutants) =>
  mutants.map(([original, replacement]) => ({ file, original, replacement, reason }));

const path = "src/call/call-path.ts";
const copy = "src/call/copy-arguments.ts";
const events = "src/call/call-events.ts";
const capabilities = "src/policy/capability-set.ts";
const grants = "src/grants/tool-grants.ts";
const redaction = "src/text/secrets/redact.ts";

/**
 * Survivors that somebody has read, with the reason. The report repeats it; the score counts them as survivors.
 *
 * @type {readonly Equivalent[]}
 */
export const equivalents = [
  ...equivalent(capabilities, "of rights that end at the same time any may be named", [
    ["endOf(capability) > endOf(best)", "endOf(capability) >= endOf(best)"],
  ]),
  ...equivalent(capabilities, "the check behind it accepts every string; it is skipped for speed", [
    ['typeof resource !== "string"', "true"],
    ['"string"', '""'],
  ]),
  ...equivalent(capabilities, "undefined is no string either", [["[resource]", "[]"]]),
  ...equivalent(capabilities, "a shortcut: equal names have equal parts", [
    ["pattern === resource", "false"],
  ]),
  ...equivalent(capabilities, "`grant` has refused what does not have three parts", [
    ["wanted === undefined", "false"],
    ["left === undefined", "false"],
  ]),

  ...equivalent("src/text/secrets/mask-secrets.ts", "a shortcut: nothing is found of nothing", [
    ["known.length === 0", "false"],
  ]),
  ...equivalent("src/text/secrets/redact-value.ts", "finds the same secrets a second time", [
    ["isSecret || isLeftOut", "true"],
  ]),
  ...equivalent("src/text/secrets/redact-value.ts", "the keys of a list are no names of secrets", [
    ["Array.isArray(value)", "false"],
  ]),
  ...equivalent(redaction, "the text that is looked for stands nowhere", [
    ["[]", '["Stryker was here"]'],
  ]),
  ...equivalent(redaction, "a shortcut: words without a mark look like no credential", [
    ["/^[a-z0-9]{0,19}$/i", "/^[a-z0-9]$/i"],
    ["/^[a-z0-9]{0,19}$/i", "/^[^a-z0-9]{0,19}$/i"],
  ]),

  ...equivalent("src/human/ask-person.ts", "what is missing throws when it is called: no, too", [
    ["human?.confirm === undefined", "false"],
  ]),
  ...equivalent("src/human/ask-person.ts", "holds on to answers that nobody waits for", [
    ["{\n      if (this.#last.get(key) === asked) this.#last.delete(key);\n    }", "{}"],
    ["this.#last.get(key) === asked", "false"],
  ]),

  ...equivalent("src/grants/session-allowances.ts", "a shortcut: nothing is allowed by nothing", [
    ["this.#servers.size === 0 && this.#tools.size === 0", "false"],
  ]),
  ...equivalent(grants, "an end that is undefined is read as none", [
    ["expiresAt === undefined", "false"],
  ]),

  ...equivalent(
    "src/session/rights/child-rights.ts",
    "the module cannot be loaded, which the runner does not count as a failure",
    [
      ['{ resource: "mcp:*:*", action: "*" }', "{}"],
      ['"mcp:*:*"', '""'],
    ],
  ),

  ...equivalent(path, "a failed call has no result that could be an error", [["false", "true"]]),
  ...equivalent(path, "tools of servers have no time of their own", [
    ["tool.serverName === undefined", "true"],
  ]),
  ...equivalent(path, "what was sent has a target", [
    ["record.target?.connection", "record.target.connection"],
    ["target !== undefined", "true"],
  ]),
  ...equivalent(path, "a shortcut: every string is a reference", [
    [
      'typeof name !== "string" && !isToolReference(name)',
      'typeof name !== "string" || !isToolReference(name)',
    ],
    ['typeof name !== "string"', "true"],
    ['"string"', '""'],
  ]),
  ...equivalent(events, "a shortcut: an event that nobody hears is not built", [
    ["!started.isHeard", "false"],
    ["ended.isHeard", "true"],
    ["!invoked.isHeard && onInvoked === undefined", "false"],
  ]),
  ...equivalent(events, "progress is reported of a call that has its target", [
    ["record.target?.tool", "record.target.tool"],
  ]),
  ...equivalent(events, "what a callback throws counts for nothing, its absence as well", [
    ["onProgress?.(progress)", "onProgress(progress)"],
  ]),
  ...equivalent(copy, "nothing but a number is finite", [['typeof value !== "number"', "false"]]),
  ...equivalent(copy, "a shortcut: the prototype of this realm has none either", [
    ["prototype === Object.prototype", "false"],
  ]),
  ...equivalent(copy, "every property may be defined as the odd one is; it takes longer", [
    ['key === "__proto__"', "true"],
  ]),
];
