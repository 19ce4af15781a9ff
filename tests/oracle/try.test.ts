import fc from "fast-check";
import { it, vi } from "vitest";
import { openMemoryStage, openStdioStage } from "./pipe-stages.ts";
import { openHttpStage } from "./http-stage.ts";
import { judge } from "./judge.ts";
import { answersTo } from "./said.ts";
import { oddOpeningTranscript, oddTranscript, validTranscript } from "./generate/transcripts.ts";
const stages = { memory: openMemoryStage, stdio: openStdioStage, json: (t: any) => openHttpStage(t, "json"), events: (t: any) => openHttpStage(t, "events") } as any;
const only = process.env["ONLY"];
for (const [kind, arb] of Object.entries({ validTranscript, oddTranscript, oddOpeningTranscript }))
  if (!only || only === kind) it(kind, async () => {
    vi.spyOn(console, "debug").mockImplementation(() => {});
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const n = Number(process.env["N"] ?? 100);
    const at = performance.now();
    const clusters = new Map<string, { count: number; ex: string }>();
    const hits = new Map<string, number>();
    let equal = 0, explained = 0, bad = 0;
    for (const t of fc.sample(arb, { numRuns: n, seed: Number(process.env["SEED"] ?? 1) })) {
      const v = await judge(t, stages[process.env["STAGE"] ?? "memory"]);
      if (v.unexplained.length) bad++; else if (v.explained.length) explained++; else equal++;
      for (const { rule } of v.explained) hits.set(rule.id, (hits.get(rule.id) ?? 0) + 1);
      for (const d of v.unexplained) {
        const k = (o: any) => o.ok ? "ok" : o.failure.kind;
        const key = `${t.era} ${d.pair.operation?.do ?? "connect"} ${d.aspect} ${k(d.pair.core.outcome)}/${k(d.pair.sdk.outcome)}`;
        const said = d.pair.place === "connect" ? [t.negotiation, t.reactions["server/discover#1"], t.reactions["initialize#1"]] : answersTo(d.pair).map((a) => [a.isExact, a.message]);
        const ex = JSON.stringify({ core: d.core, sdk: d.sdk, said });
        const e = clusters.get(key) ?? { count: 0, ex };
        e.count++; if (ex.length < e.ex.length) e.ex = ex;
        clusters.set(key, e);
      }
    }
    console.log(kind, { n, equal, explained, bad, ms: Math.round(performance.now() - at) }, Object.fromEntries(hits), "\n" + [...clusters].map(([k, { count, ex }]) => `${count} ${k}: ${ex.slice(0, Number(process.env["W"] ?? 500))}`).join("\n"));
  }, 600000);
