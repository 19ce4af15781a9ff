import { canaries } from "../canaries.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const server = "hostile";

interface Dump {
  readonly own: readonly string[];
  readonly parent: string;
}

function canariesIn(text: string): number {
  return Object.values(canaries).filter((value) => text.includes(value)).length;
}

/** Starts the server anew while this process has secrets in its environment. */
async function dumpEnvironment(lab: Lab): Promise<Figures> {
  const before = { ...process.env };
  Object.assign(process.env, canaries);
  let seen = 0;
  let inParent = 0;
  let failed = 0;
  try {
    for (let round = 0; round < lab.count; round += 1) {
      await lab.subject.disconnect(server);
      const { ok, structured } = await lab.call({ server, args: {} });
      if (!ok) failed += 1;
      const { own = [], parent = "" } = (structured ?? {}) as Partial<Dump>;
      seen += own.reduce((sum, text) => sum + canariesIn(text), 0);
      inParent = Math.max(inParent, canariesIn(parent));
    }
  } finally {
    for (const name of Object.keys(canaries))
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
  }
  return {
    "canaries seen": seen,
    "readable in the host's /proc": inParent,
    "failed calls": failed,
  };
}

export const environmentRows: readonly Row[] = [
  {
    id: "C6",
    trigger: "env-dump, canaries in the host's environment",
    expected: "none handed on",
    measured: `${Object.keys(canaries).length} secrets; the server's own environment, as Node and as /proc show it, its command line and folder. What a process of the same user may read in /proc of its host is told but not judged: only isolation takes that away`,
    criteria: [
      { figure: "canaries seen", atMost: 0 },
      { figure: "failed calls", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("env-dump") },
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: dumpEnvironment,
  },
];
