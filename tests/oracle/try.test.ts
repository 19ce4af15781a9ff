import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { it, vi } from "vitest";
import { coreSubject } from "./core-subject.ts";
import { sdkSubject } from "./sdk-subject.ts";
import { openMemoryStage } from "./pipe-stages.ts";
import { runTranscript } from "./run-transcript.ts";
import { oddOpeningTranscript, oddTranscript, validTranscript } from "./generate/transcripts.ts";
import type { Transcript } from "./transcript.ts";

const clean = (x: unknown) => JSON.parse(JSON.stringify(x ?? null));
for (const [kind, arb] of Object.entries({ validTranscript, oddTranscript, oddOpeningTranscript }))
  it(kind, async () => {
    vi.spyOn(console, "debug").mockImplementation(() => {});
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const n = Number(process.env["N"] ?? 100);
    const at = performance.now();
    const clusters = new Map<string, { count: number; ex: string }>();
    let equal = 0;
    for (const t of fc.sample(arb, { numRuns: n, seed: 1 })) {
      const obs = [];
      for (const s of [coreSubject, sdkSubject]) {
        await using stage = await openMemoryStage(t);
        obs.push(clean(await runTranscript(t, s, stage)));
      }
      const [c, s] = obs;
      const sort = (x: any[]) => x.toSorted((a: any, b: any) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      c.answers = sort(c.answers); s.answers = sort(s.answers);
      let same = true;
      const kindOf = (o: any) => (o.ok ? "ok" : o.failure.kind);
      const note = (k: string, ex: unknown) => { same = false; const e = clusters.get(k) ?? { count: 0, ex: JSON.stringify(ex) }; e.count++; if (JSON.stringify(ex).length < e.ex.length) e.ex = JSON.stringify(ex); clusters.set(k, e); };
      const cmp = (what: string, a: any, b: any, said: unknown) => {
        if (!a || !b) return note(`${what} missing`, said);
        if (!isDeepStrictEqual(a.outcome, b.outcome)) note(`${what} outcome ${kindOf(a.outcome)}/${kindOf(b.outcome)}`, { said, core: a.outcome, sdk: b.outcome });
        if (!isDeepStrictEqual(a.progress, b.progress)) note(`${what} progress`, { said, core: a.progress, sdk: b.progress });
        if (!isDeepStrictEqual(a.sent, b.sent)) note(`${what} sent`, { said, core: a.sent, sdk: b.sent });
      };
      cmp("connect", c.connect, s.connect, [t.era, t.negotiation, t.reactions["initialize#1"], t.reactions["server/discover#1"]]);
      if (c.connect.outcome.ok && s.connect.outcome.ok) t.operations.forEach((op, i) => cmp(`${t.era} ${op.do}`, c.operations[i], s.operations[i], [op, c.operations[i]?.sent.map((m: any) => t.reactions[m.label])]));
      for (const k of ["notifications", "answers", "hasEnded"]) if (!isDeepStrictEqual(c[k], s[k])) note(k, { core: c[k], sdk: s[k] });
      if (same) equal++;
    }
    console.log(kind, n, "equal", equal, Math.round(performance.now() - at), "ms\n" + [...clusters].map(([k, { count, ex }]) => `${count} ${k}: ${ex.slice(0, 700)}`).join("\n"));
  }, 600000);
