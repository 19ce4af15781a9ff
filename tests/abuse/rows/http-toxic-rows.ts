import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

/** How calls may end while it works; the first of each is how most do. */
const endsByToxic: Readonly<Record<string, readonly string[]>> = {
  latency: ["ok"],
  bandwidth: ["ok"],
  slicer: ["ok"],
  reset: ["connection_lost"],
  // A server that gives no sign of life after a missed deadline is given up, with the calls under way.
  blackhole: ["timeout", "connection_lost"],
};
const toxics = Object.keys(endsByToxic);
const parallel = 3;
/** After the last call that a toxic could spoil, a server has this long to be usable again. */
const recoveryTriesMs = 10_000;

/** Calls through one bad network after another, then through a good one again. */
async function suffer(lab: Lab): Promise<Figures> {
  const latencyMs = Math.min(2_000, lab.count);
  const timeoutMs = Math.min(5_000, 3 * lab.count);
  const figures = { "wrong ends": 0, "wrong answers": 0, "calls received twice": 0, calls: 0 };
  const recoveries = await Promise.all(
    toxics.map(async (toxic) => {
      await lab.site(toxic).order({ toxic, ms: latencyMs });
      const untilMs = performance.now() + lab.count;
      const worker = async (index: number): Promise<void> => {
        for (let round = 0; performance.now() < untilMs; round += 1) {
          const nonce = `${index}-${round}`;
          const { ok, code, text } = await lab.call({ server: toxic, args: { nonce }, timeoutMs });
          figures.calls += 1;
          if (!endsByToxic[toxic]?.includes(ok ? "ok" : code)) figures["wrong ends"] += 1;
          if (ok && text !== `honest ${nonce}`) figures["wrong answers"] += 1;
        }
      };
      await Promise.all(Array.from({ length: parallel }, (_, index) => worker(index)));
      await lab.site(toxic).order({ toxic: "none", ms: 0 });
      const recoveryMs = await recover(lab, toxic);
      figures["calls received twice"] += (await lab.site(toxic).report()).repeated;
      return [`${toxic}: recovery s`, recoveryMs / 1_000] as const;
    }),
  );
  const slowest = Math.max(...recoveries.map(([, seconds]) => seconds));
  return { ...figures, "recovery s": slowest, ...Object.fromEntries(recoveries) };
}

/** How long it takes until a call is answered again. */
async function recover(lab: Lab, server: string): Promise<number> {
  const startedAt = performance.now();
  while (!(await lab.isAlive(server)))
    if (performance.now() - startedAt > recoveryTriesMs) return Number.POSITIVE_INFINITY;
  return performance.now() - startedAt;
}

export const httpToxicRows: readonly Row[] = [
  {
    id: "F10",
    trigger: "latency, 1 KB/s, slicer, reset, blackhole",
    expected: "bounded; recovers",
    measured: `for each, ${parallel} workers that call for the count in ms; then until the first call succeeds`,
    criteria: [
      { figure: "hung calls", atMost: 0 },
      { figure: "wrong ends", atMost: 0 },
      { figure: "wrong answers", atMost: 0 },
      { figure: "calls received twice", atMost: 0 },
      { figure: "recovery s", atMost: 2, isPhysical: true },
    ],
    servers: (count) =>
      Object.fromEntries(
        toxics.map((toxic) => [
          toxic,
          hostileHttpEntry("toxic", { parameters: { toxic, lifeMs: count + 60_000 } }),
        ]),
      ),
    counts: { short: 500, normal: 12_000, long: 600_000, stock: 6_000 },
    attack: suffer,
  },
];
