import type { Limits } from "../../src/index.ts";
import type { Lab } from "./lab.ts";
import type { HostOptions, Product } from "./product.ts";
import type { ServerEntries } from "./subject.ts";

/** `short` in `npm test`, `normal` in `npm run test:abuse`, `long` with `--long`; `stock` for the comparison. */
export type Form = "short" | "normal" | "long" | "stock";

/** What was measured, by name. */
export type Figures = Readonly<Record<string, number>>;

export interface Criterion {
  /** Name of the figure. */
  readonly figure: string;
  readonly atMost: number;
  /** Time or memory: not judged in `npm test`, whose machine and process are busy with other things, too. */
  readonly isPhysical?: boolean;
}

/** A longer stall that is known, with what causes it; it is printed with the row. */
export interface StallAllowance {
  /** `Infinity` where the figure says nothing about the product. */
  readonly atMostMs: number;
  readonly reason: string;
}

/** One row of the attack table. */
export interface Row {
  readonly id: string;
  readonly trigger: string;
  readonly expected: string;
  /** How the figures come about. */
  readonly measured: string;
  readonly criteria: readonly Criterion[];
  /** Depends on `lab.count` where a server must know it before its first call. */
  readonly servers: ServerEntries | ((count: number) => ServerEntries);
  /** Modes of servers that the attack starts itself, in hosts of its own. */
  readonly ownModes?: readonly string[];
  /** What the host gets instead of its defaults; depends on `lab.count`. */
  readonly limits?: (count: number) => Partial<Limits>;
  /** Who answers what servers ask, and with what; nobody by default. */
  readonly answers?: Pick<HostOptions, "human" | "roots">;
  /** The attack itself keeps this process busy, so H says nothing about isolation. */
  readonly isBusy?: boolean;
  /** For a row in which work of this process holds the event loop for longer than the 50 ms of every other. */
  readonly stallAllowance?: StallAllowance;
  /** How often, or how long: what `lab.count` is in each form. No `stock`, no comparison. */
  readonly counts: Readonly<Record<Exclude<Form, "stock">, number> & { stock?: number }>;
  readonly attack: (lab: Lab, product: Product) => Promise<Figures>;
  /**
   * What the product still lacks to pass. Such a row fails in `npm run test:abuse`; in `npm test` it
   * must fail, so that the note goes when the gap is closed.
   */
  readonly knownGap?: string;
}

/** Figures that must be nothing. */
export function zero(...figures: readonly string[]): readonly Criterion[] {
  return figures.map((figure) => ({ figure, atMost: 0 }));
}

/** Holds for every row; printed by rows that are about it, and by any that breaks it. */
export const commonCriteria: readonly Criterion[] = [
  { figure: "hung calls", atMost: 0 },
  { figure: "stray callbacks", atMost: 0 },
  { figure: "double ends", atMost: 0 },
  { figure: "internal errors", atMost: 0 },
  { figure: "crashes", atMost: 0 },
  { figure: "polluted prototypes", atMost: 0 },
  { figure: "H errors", atMost: 0 },
  { figure: "H p99 ms", atMost: 100, isPhysical: true },
];

const maxStallMs = 50;

/** No row holds the event loop for 50 ms by work of this process, unless it says why. */
export function stallCriterion({ stallAllowance }: Row): Criterion {
  const { atMostMs = maxStallMs } = stallAllowance ?? {};
  return { figure: "stall ms", atMost: atMostMs, isPhysical: true };
}

/** For rows about how much or how fast a server may write. */
export const calmCriteria: readonly Criterion[] = [
  { figure: "RSS growth MB", atMost: 64, isPhysical: true },
];

export function serversOf({ servers }: Row, count: number): ServerEntries {
  return typeof servers === "function" ? servers(count) : servers;
}
