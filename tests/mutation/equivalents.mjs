// @ts-check

/**
 * @typedef {object} Equivalent a mutant that no test can kill
 * @property {string} file
 * @property {string} original the code that is replaced
 * @property {string} replacement
 * @property {string} reason why the product behaves the same
 */

/** Survivors that somebody has read, with the reason. The report repeats it; the score counts them as survivors. @type {readonly Equivalent[]} */
export const equivalents = [];
