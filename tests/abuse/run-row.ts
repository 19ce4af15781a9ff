import { HealthyLoad } from "./healthy-load.ts";
import { Lab } from "./lab.ts";
import { openPlugboard } from "./plugboard-subject.ts";
import type { Product } from "./product.ts";
import {
  commonCriteria,
  type Figures,
  type Form,
  type Row,
  serversOf,
  stallCriterion,
} from "./row.ts";
import { Sites } from "./site.ts";
import { entriesForStock, openStock } from "./stock-subject.ts";
import { VitalSigns } from "./vital-signs.ts";

export interface RowReport {
  readonly count: number;
  readonly figures: Figures;
  /** How calls ended, and how often. */
  readonly ends: Readonly<Record<string, number>>;
  readonly healthyCalls: number;
  /** Criteria that were not met, in words. */
  readonly broken: readonly string[];
  readonly tookMs: number;
}

/** So many calls of H make its 99th percentile more than an anecdote. */
const minHealthyCalls: Record<Form, number> = { short: 2, normal: 60, long: 200, stock: 20 };

/** Runs one row against the product or, in the form `stock`, against the official client. */
export async function runRow(row: Row, form: Form, product: Product): Promise<RowReport> {
  const startedAt = performance.now();
  const count = row.counts[form] ?? 0;
  const all = { ...serversOf(row, count), H: product.healthyServer };
  const servers = form === "stock" ? entriesForStock(all) : all;
  await using sites = await Sites.start(servers);
  await using subject =
    form === "stock"
      ? openStock(sites.entries)
      : await openPlugboard(product, sites.entries, {
          limits: row.limits?.(count),
          ...row.answers,
        });
  const lab = new Lab(subject, form, count, sites.byName);
  const load = new HealthyLoad(subject);
  await load.start();
  const vitalSigns = new VitalSigns();
  const own = await row.attack(lab, product);
  await load.atLeast(minHealthyCalls[form]);
  const health = await load.stop();
  const figures = {
    ...own,
    ...lab.figures,
    ...vitalSigns.stop(),
    "H errors": health.errors,
    "H p99 ms": health.p99Ms,
  };
  return {
    count,
    figures,
    ends: Object.fromEntries(lab.ends),
    healthyCalls: health.calls,
    broken: brokenCriteria(row, form, figures),
    tookMs: performance.now() - startedAt,
  };
}

function brokenCriteria(row: Row, form: Form, figures: Figures): string[] {
  const stall = stallCriterion(row);
  const criteria = new Map(
    [...commonCriteria, ...row.criteria, stall].map((criterion) => [criterion.figure, criterion]),
  );
  return [...criteria.values()]
    .filter((criterion) => {
      // What the attack itself does is in the allowance for stalls.
      const isQuiet = criterion === stall || row.isBusy !== true;
      return criterion.isPhysical !== true || (form !== "short" && isQuiet);
    })
    .flatMap(({ figure, atMost }) => {
      const value = figures[figure];
      if (value !== undefined && value <= atMost) return [];
      return [
        `${figure} ${value === undefined ? "not measured" : round(value)}, at most ${atMost}`,
      ];
    });
}

export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
