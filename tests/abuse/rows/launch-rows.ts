import { tmpdir } from "node:os";
import path from "node:path";

import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import { watchSpawns } from "../spawns.ts";
import type { ServerEntry } from "../subject.ts";

interface BadLaunch {
  readonly entry: ServerEntry;
  readonly code: string;
  readonly reason: RegExp;
}

const healthy = hostileEntry("healthy");
const nowhere = path.join(tmpdir(), "plugboard-abuse-nowhere");

/** Entries that cannot be started, by name. */
const badLaunches: Readonly<Record<string, BadLaunch>> = {
  missing: {
    entry: { ...healthy, command: path.join(nowhere, "missing-command") },
    code: "command_not_found",
    reason: /command not found/,
  },
  notExecutable: {
    entry: { ...healthy, command: import.meta.filename },
    code: "command_not_found",
    reason: /not executable/,
  },
  badFolder: {
    entry: { ...healthy, cwd: nowhere },
    code: "config_invalid",
    reason: /working folder .* does not exist/,
  },
  longArguments: {
    entry: { ...healthy, args: [...healthy.args, "x".repeat(1_000_000)] },
    code: "config_invalid",
    reason: /too long/,
  },
};

async function launchInVain(lab: Lab): Promise<Figures> {
  const figures = { "wrong ends": 0, "reasons missing": 0, "max ms to error": 0, "max spawns": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const [server, { code, reason }] of Object.entries(badLaunches)) {
      const spawns = await watchSpawns(async () => {
        const end = await lab.call({ server, args: {} });
        if (end.code !== code) figures["wrong ends"] += 1;
        if (!reason.test(end.message)) figures["reasons missing"] += 1;
        figures["max ms to error"] = Math.max(figures["max ms to error"], end.tookMs);
        // A retry would come now.
        await new Promise((resolve) => setTimeout(resolve, 200));
      });
      figures["max spawns"] = Math.max(figures["max spawns"], spawns.length);
    }
  return figures;
}

export const launchRows: readonly Row[] = [
  {
    id: "B16",
    trigger: "no command, no program, no folder, 1 MB argv",
    expected: "typed error, no retry storm",
    measured: "one call each; its error, and what this process tried to start until 200 ms later",
    criteria: [
      { figure: "wrong ends", atMost: 0 },
      { figure: "reasons missing", atMost: 0 },
      { figure: "max spawns", atMost: 1 },
      { figure: "max ms to error", atMost: 1_000, isPhysical: true },
    ],
    servers: Object.fromEntries(
      Object.entries(badLaunches).map(([name, { entry }]) => [name, entry]),
    ),
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: launchInVain,
  },
];
