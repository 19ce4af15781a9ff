import { call } from "./call.mjs";

/**
 * In the order in which a run of everything goes.
 *
 * @type {readonly import("./scenario.mjs").Scenario[]}
 */
export const scenarios = [call];
