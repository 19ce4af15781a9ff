import { echoClient, openSession } from "../clients/plugboard.mjs";
import { listFleet } from "./list-fleet.mjs";
import { measureCalls } from "./measure-calls.mjs";
import { settledRssMb } from "./settled-rss.mjs";
import { startWatch, timeOnce, timeRepeated } from "./stopwatch.mjs";

const concurrency = 64;
const text = "x".repeat(100);
const rssReadings = 3;

/**
 * @typedef {import("../clients/plugboard.mjs").McpHost} McpHost
 * @typedef {import("../servers/open-target.mjs").Fleet} Fleet
 * @typedef {import("./measure-calls.mjs").Duration} Duration
 * @typedef {ReturnType<typeof openSession>} Session
 * @typedef {readonly [Session, ...Session[]]} Sessions
 *
 * @typedef {import("./list-fleet.mjs").FleetSize & { sessions?: number }} GrowthOptions
 */

/**
 * What a host with many servers, tools or sessions costs, step by step.
 *
 * @param {GrowthOptions & Duration} options
 */
export async function measure({ sessions: sessionCount = 1, ...options }) {
  const { fleet, host, session, figures } = await listFleet(options);
  const others = openOtherSessions(host, Math.ceil(sessionCount * options.scale) - 1);
  /** @type {Sessions} */
  const sessions = [session, ...others.sessions];
  const lookups = measureLookups(host, sessions);
  const change = await measureChange(host, sessions, fleet);
  const calls = await measureEachCall(host, sessions, fleet.targets.length, options);
  const rssMb = await settledRssMb(rssReadings);
  await host.close();
  await fleet.close();
  return { ...figures, ...others.figures, ...lookups, ...change, ...calls, rssMb };
}

/** Opens more sessions and gives out the tools to each. @param {McpHost} host @param {number} count */
function openOtherSessions(host, count) {
  /** @type {Session[]} */
  const sessions = [];
  const otherSessionsMs = timeOnce(() => {
    while (sessions.length < count) {
      const session = openSession(host);
      session.tools();
      sessions.push(session);
    }
  });
  return { sessions, figures: count === 0 ? {} : { otherSessionsMs } };
}

/** Asks again when nothing has changed. @param {McpHost} host @param {Sessions} sessions */
function measureLookups(host, sessions) {
  let turn = 0;
  const toolsMs = timeRepeated(() => sessions[turn++ % sessions.length]?.tools());
  return {
    toolsMicros: toolsMs * 1_000,
    firstServersMs: timeOnce(() => host.servers()),
    serversMs: timeRepeated(() => host.servers()),
  };
}

/**
 * Has one server add a tool, and gives out the tools to every session again.
 *
 * @param {McpHost} host
 * @param {Sessions} sessions
 * @param {Fleet} fleet
 */
async function measureChange(host, sessions, fleet) {
  /** @type {Promise<readonly string[]>} */
  const changed = new Promise((resolve) => {
    host.on("tools-changed", ({ added }) => resolve(added));
  });
  const changing = startWatch();
  fleet.addTool();
  const [added] = await changed;
  const changedToolsMs = timeOnce(() => sessions.forEach((session) => session.tools()));
  const changedServersMs = timeOnce(() => host.servers());
  const { cpuMs: changeCpuMs } = changing();
  const isListed = sessions.every((session) =>
    session.tools().some(({ name }) => name === `mcp__echo0__${added}`),
  );
  if (!isListed) throw new Error("the new tool is not listed");
  return { changeCpuMs, changedToolsMs, changedServersMs };
}

/**
 * Calls one server, and then all servers and sessions in turn.
 *
 * @param {McpHost} host
 * @param {Sessions} sessions
 * @param {number} servers
 * @param {Duration} duration
 */
async function measureEachCall(host, sessions, servers, duration) {
  const load = { text, expected: text, concurrency };
  const one = echoClient(host, sessions[0], 0);
  const each = Array.from({ length: Math.max(servers, sessions.length) }, (_, index) =>
    echoClient(host, sessions[index % sessions.length] ?? sessions[0], index % servers),
  );
  let turn = 0;
  /** @param {string} sent */
  const callNext = (sent) => (each[turn++ % each.length] ?? one).call(sent);
  const { cpuMicrosPerCall } = await measureCalls(one, load, duration);
  const spread = await measureCalls({ ...one, call: callNext }, load, duration);
  return { cpuMicrosPerCall, spreadCpuMicrosPerCall: spread.cpuMicrosPerCall };
}
