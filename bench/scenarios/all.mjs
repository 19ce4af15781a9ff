import { call } from "./call.mjs";
import { cli } from "./cli.mjs";
import { firstcall } from "./firstcall.mjs";
import { flood } from "./flood.mjs";
import { growth } from "./growth.mjs";
import { http } from "./http.mjs";
import { memory } from "./memory.mjs";
import { peersScenario } from "./peers.mjs";
import { signIn } from "./sign-in.mjs";
import { start } from "./start.mjs";

/**
 * In the order in which a run of everything goes.
 *
 * @type {readonly import("./scenario.mjs").Scenario[]}
 */
export const scenarios = [
  call,
  http,
  signIn,
  flood,
  firstcall,
  start,
  cli,
  memory,
  growth,
  peersScenario,
];
