/**
 * What a measurement needs of each variant. `textOf` takes out of a result what an agent would read;
 * every call is checked with it, so that a client that fails fast cannot look fast.
 *
 * @template Result
 * @typedef {object} EchoClient
 * @property {(text: string) => Promise<Result>} call calls the tool `echo`
 * @property {(result: Result) => unknown} textOf
 * @property {() => Promise<unknown>} close
 */

/** @typedef {(target: import("../servers/echo-target.mjs").Target) => Promise<EchoClient<any>>} OpenEchoClient */

/** The text of a `tools/call` result in the protocol's own shape. @param {any} result */
export const firstText = (result) => result.content[0].text;
