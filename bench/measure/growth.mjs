import { echoClient, openSession } from "../clients/plugboard.mjs";
import { listFleet } from "./list-fleet.mjs";
import { measureCalls } from "./measure-calls.mjs";
import { settledRssMb } from "./settled-rss.mjs";
import { startWatch, timeOnce, timeRepeated } from "./stopwatch.mjs";

const concurrency = 64;
const text = "x".repeat(100);
const rssReadings = 3;
// Where the CPU time per call stops falling. Calls to other servers run the same code, which is warm by then;
// what each server does at its first call must be over as well.
const warmUpCalls = 8_000;
const spreadWarmUpCalls = 4_000;

/**
 * @typedef {import("../clients/plugboard.mjs").McpHost} McpHost
 * @typedef {import("../servers/open-target.mjs").Fleet} Fleet
 * @typedef {ReturnType<typeof openSession>} Session
 *
 * @typedef {object} UseOptions
 * @property {number} [sessions] one by default
 * @property {number} [measuredCpuMs] of calls; without it none are made
 * @property {number} share of these calls and their warm-up: less than 1 for a quick look
 */

/**
 * What a host with many servers, tools or sessions costs, step by step.
 *
 * @param {import("./list-fleet.mjs").FleetSize & UseOptions} options
 */
export async function measure({ sessions: count = 1, measuredCpuMs, share, ...size }) {
  const { fleet, host, session, figures } = await listFleet(size);
  const others = openOtherSessions(host, Math.ceil(count * size.scale) - 1);
  const sessions = [session, ...others.sessions];
  const lookups = measureLookups(host, sessions);
  const change = await measureChange(host, sessions, fleet);
  // Before the calls, because it collects the garbage that would otherwise count as theirs.
  const rssMb = await settledRssMb(rssReadings);
  const clients = fleet.targets.map((_, index) => echoClient(host, session, index));
  const calls =
    measuredCpuMs === undefined ? {} : await measureEachCall(clients, { measuredCpuMs, share });
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

/** Asks again when nothing has changed. @param {McpHost} host @param {readonly Session[]} sessions */
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
 * @param {readonly Session[]} sessions
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
 * Calls one server, and then all of them in turn.
 *
 * @param {readonly import("../clients/client.mjs").EchoClient<any>[]} clients
 * @param {{ measuredCpuMs: number, share: number }} duration
 */
export async function measureEachCall(clients, duration) {
  const [one] = clients;
  if (one === undefined) throw new RangeError("there is no server to call");
  let turn = 0;
  /** @param {string} sent */
  const callNext = (sent) => (clients[turn++ % clients.length] ?? one).call(sent);
  const load = { text, expected: text, concurrency };
  const alone = await measureCalls(one, load, { ...duration, warmUpCalls });
  const spread = await measureCalls({ ...one, call: callNext }, load, {
    ...duration,
    warmUpCalls: spreadWarmUpCalls,
  });
  return {
    cpuMicrosPerCall: alone.cpuMicrosPerCall,
    spreadCpuMicrosPerCall: spread.cpuMicrosPerCall,
  };
}
