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

/**
 * @typedef {import("../servers/open-target.mjs").Target} Target
 * @typedef {import("../servers/echo-answers.mjs").Era} Era
 *
 * @typedef {(target: Target, era?: Era) => Promise<EchoClient<any>>} OpenEchoClient connects and lists
 *   the tools; the era is for those who cannot find out
 *
 * @typedef {object} EchoHost several servers in one application
 * @property {(index: number, era?: Era) => Promise<EchoClient<any>>} connect after it the tools of the
 *   server are listed
 * @property {() => number} [countTools] lists what an agent is given, where that is one list
 * @property {() => Promise<unknown>} close
 *
 * @typedef {object} HostOptions
 * @property {string} [storeFile] where a host may remember what it learns; without it nowhere
 * @property {object} [auth] how servers over HTTP are signed in to, as an entry says it
 *
 * @typedef {(targets: readonly Target[], options?: HostOptions) => Promise<EchoHost>} OpenEchoHost
 *   connects none of them yet
 */

/** The text of a `tools/call` result in the protocol's own shape. @param {any} result */
export const firstText = (result) => result.content[0].text;
