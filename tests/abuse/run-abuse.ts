import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { canaries } from "./canaries.ts";
import { describeReport, describeStock } from "./describe-report.ts";
import type { Form } from "./row.ts";
import { rows } from "./rows.ts";
import type { RowReport } from "./run-row.ts";

export interface AbuseCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const usage = `npm run test:abuse [-- options] [ids]
  --long        larger counts, a million mutated lines
  --no-stock    without the official client beside each row
  --seed=N      where the mutations of K6 begin
  A5 A9 …       only these rows`;

const timeLimitsMs: Record<Form, number> = {
  short: 60_000,
  normal: 300_000,
  long: 3_600_000,
  stock: 60_000,
};

/** Runs the attack table on the built package, one process for each row, and prints a line for each. */
export async function runAbuse(args: readonly string[]): Promise<AbuseCounts> {
  const options = new Set(args.filter((arg) => arg.startsWith("--")));
  const seed = [...options].find((option) => option.startsWith("--seed="));
  const unknown = [...options].filter((option) => !["--long", "--no-stock", seed].includes(option));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(" ")}\n${usage}`);
  const ids = new Set(args.filter((arg) => !arg.startsWith("--")));
  const chosen = [...rows.entries()].filter(([, { id }]) => ids.size === 0 || ids.has(id));
  if (chosen.length === 0) throw new Error(`no such row\n${usage}`);
  const form: Form = options.has("--long") ? "long" : "normal";
  const home = mkdtempSync(path.join(tmpdir(), "plugboard-abuse-"));
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...canaries,
    HOME: home,
    USERPROFILE: home,
    ...(seed && { ABUSE_SEED: seed.slice("--seed=".length) }),
  };
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const [index, row] of chosen) {
      const report = await runInProcess(index, form, env);
      const isPassed = typeof report !== "string" && report.broken.length === 0;
      counts[isPassed ? "passed" : "failed"] += 1;
      console.log(describeReport(row, report));
      if (options.has("--no-stock") || row.counts.stock === undefined) continue;
      console.log(describeStock(row, await runInProcess(index, "stock", env), stockVersion()));
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return counts;
}

/** The report, or what became of the process instead. */
function runInProcess(
  index: number,
  form: Form,
  env: NodeJS.ProcessEnv,
): Promise<RowReport | string> {
  const program = path.join(import.meta.dirname, "row-process.ts");
  const child = spawn(
    process.execPath,
    ["--expose-gc", "--import", "tsx", program, String(index), form],
    // JSON would turn an infinite time into none.
    { env, stdio: ["ignore", "inherit", "inherit", "ipc"], serialization: "advanced" },
  );
  return new Promise((resolve) => {
    let report: RowReport | undefined;
    const limitMs = timeLimitsMs[form];
    const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
    child.once("message", (message) => {
      report = message as RowReport;
    });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const wasLate = signal === "SIGKILL" ? `, after ${limitMs / 1_000} s` : "";
      resolve(report ?? `its process ended with ${signal ?? `code ${code}`}${wasLate}`);
    });
  });
}

/** The manifest pins it. */
function stockVersion(): string {
  const manifest = path.resolve(import.meta.dirname, "../../package.json");
  const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return dependencies["@modelcontextprotocol/client"] ?? "";
}
