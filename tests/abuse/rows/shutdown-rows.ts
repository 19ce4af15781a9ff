import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";

import { childMarkerVariable } from "../../../src/isolation/process/child-mark.ts";
import { markedProcesses } from "../../../src/isolation/process/marked-processes.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";
import { startProgram } from "../start-program.ts";

const program = path.resolve(import.meta.dirname, "../../fixtures/agent/stopping-host.mjs");
const calls = 50;
const patienceMs = 20_000;
/** What a call may end with when its host is told to end. */
const typedEnds = new Set(["closed", "cancelled", "connection_lost", "not_connected"]);

function startAgent(lab: Lab, { home }: Project, marker: string): ChildProcess {
  const entry = JSON.stringify(hostileEntry("hang", { stubborn: 1 }));
  const env = { [childMarkerVariable]: marker };
  return startProgram(lab, program, [home, entry, String(calls)], { stderr: "inherit", env });
}

async function stopAgents(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "s to exit": 0,
    "untyped ends": 0,
    "ends missing": 0,
    "lost audit rows": 0,
    "processes left": 0,
    "not by itself": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    const marker = randomUUID();
    const agent = startAgent(lab, project, marker);
    const exit = once(agent, "close");
    const lines: string[] = [];
    if (agent.stdout === null) throw new Error("the agent has no stdout");
    const output = createInterface({ input: agent.stdout }).on("line", (line) => lines.push(line));
    await once(output, "line");
    const startedAt = performance.now();
    agent.kill("SIGTERM");
    const timer = setTimeout(() => agent.kill("SIGKILL"), patienceMs);
    await exit;
    clearTimeout(timer);
    figures["s to exit"] = Math.max(figures["s to exit"], (performance.now() - startedAt) / 1_000);
    if (agent.exitCode !== 0) figures["not by itself"] += 1;
    const ends = JSON.parse(lines[1] ?? "[]") as readonly string[];
    figures["ends missing"] += calls - ends.length;
    figures["untyped ends"] += ends.filter((code) => !typedEnds.has(code)).length;
    figures["processes left"] += (await markedProcesses({ id: marker })).length;
    await using later = await project.open(product, { servers: {} });
    const rows = await later.audit.query({ agent: "stopped", type: "call", limit: 2 * calls });
    figures["lost audit rows"] += Math.abs(calls - rows.length);
  }
  return figures;
}

export const shutdownRows: readonly Row[] = [
  {
    id: "B18",
    trigger: `SIGTERM of a host with ${calls} calls in flight`,
    expected: "every call ends typed and is written down; the process ends by itself",
    measured:
      "an agent in a process of its own, its server deaf to all but SIGKILL; what it says of its calls, its store, and what is left of its processes",
    criteria: [
      { figure: "s to exit", atMost: 10 },
      ...zero("untyped ends", "ends missing", "lost audit rows", "processes left", "not by itself"),
    ],
    servers: {},
    ownModes: ["hang"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: stopAgents,
  },
];
