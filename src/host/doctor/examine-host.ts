import { Stop } from "../../async/stop.ts";
import { untilAborted } from "../../async/until-aborted.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { DoctorOptions, DoctorReport, Finding } from "../doctor-report.ts";
import type { ServerStatus } from "../host.ts";
import type { CheckId } from "./check-texts.ts";
import {
  type DoctorParts,
  type Found,
  findingOf,
  problem,
  warning,
  worstVerdict,
} from "./check.ts";
import { type Attempt, connectionFindings } from "./connection-checks.ts";
import { entryChecks, permissionChecks } from "./entry-checks.ts";
import { findingsOf, machineChecks } from "./machine-checks.ts";
import { signInFindings } from "./sign-in-checks.ts";
import { toolChecks } from "./tool-checks.ts";

const defaultTimeoutMs = 15_000;

/**
 * Runs the checks of the machine and of every server, or of one server, all at once. Connects servers that may start,
 * and leaves them connected; one that waits for approval is not started. Every report is there within the limit:
 * a server that has not answered by then is reported as such. Rejects with `cancelled` only.
 */
export async function examineHost(
  parts: DoctorParts,
  name: string | undefined,
  { timeoutMs = defaultTimeoutMs, signal, onReport }: DoctorOptions,
): Promise<readonly DoctorReport[]> {
  const limit = new Stop({ signals: [signal], clock: parts.clock, afterMs: timeoutMs });
  const tell = (report: DoctorReport): DoctorReport => {
    if (signal?.aborted !== true) onReport?.(report);
    return report;
  };
  try {
    const machine = name === undefined ? machineChecks : [];
    const servers = parts.host.servers().filter((it) => name === undefined || it.name === name);
    // Processes that an earlier run left are ended by the first start: they have to be looked for before.
    const begun = machine.map(async ({ id, run }) =>
      tell(reportOf(undefined, await machineFindings(id, () => run(parts), { limit, timeoutMs }))),
    );
    const looked = begun[machine.findIndex(({ id }) => id === "leftovers")];
    await looked;
    if (servers.some(({ state }) => state === "connected"))
      await untilAborted(parts.host.checkConnections(), limit.signal).catch(() => undefined);
    const examined = servers.map(async (status) =>
      tell(reportOf(status.name, await serverFindings(status, parts, { limit, timeoutMs }))),
    );
    const reports = await Promise.all([...begun, ...examined]);
    if (signal?.aborted === true) throw createError("cancelled", "stopped half-way");
    return reports;
  } finally {
    limit.clear();
  }
}

function reportOf(server: string | undefined, findings: readonly Finding[]): DoctorReport {
  return { server, verdict: worstVerdict(findings), findings };
}

async function machineFindings(
  id: CheckId,
  run: () => Promise<Found | readonly Found[]>,
  { limit: { signal }, timeoutMs }: Limit,
): Promise<readonly Finding[]> {
  const found = await untilAborted(run(), signal).catch((error: unknown) =>
    warning(signal.aborted ? lateText(timeoutMs) : String(error)),
  );
  return [found].flat().map((it) => findingOf(id, it));
}

interface Limit {
  readonly limit: Stop;
  readonly timeoutMs: number;
}

/** Runs the checks of one server in the order in which it would be used, as far as it comes. */
async function serverFindings(
  status: ServerStatus,
  parts: DoctorParts,
  limit: Limit,
): Promise<readonly Finding[]> {
  const findings = new Map<CheckId, Finding>();
  const note = (id: CheckId, found: Found | undefined): void => {
    if (found !== undefined) findings.set(id, findingOf(id, found, status.name));
  };
  const work = async (): Promise<void> => {
    for (const { id, run } of permissionChecks) note(id, await run(status, parts));
    // Even a look at the files that it names may be what an unapproved entry is after.
    if (status.state === "disabled" || status.state === "pending") return;
    for (const { id, run } of entryChecks) note(id, await run(status, parts));
    if (worstVerdict([...findings.values()]) === "problem") return;
    const attempt = await connect(status, parts, limit);
    for (const [id, found] of connectionFindings(attempt, parts)) note(id, found);
    for (const [id, found] of await signInFindings(attempt, parts, limit.limit.signal))
      note(id, found);
    for (const { id, isLive, run } of toolChecks)
      if (!isLive || attempt.error === undefined) note(id, await run(attempt.status, parts));
  };
  try {
    await untilAborted(work(), limit.limit.signal);
  } catch (error) {
    if (!limit.limit.signal.aborted) throw error;
    if (!findings.has("answers"))
      note("answers", problem(lateText(limit.timeoutMs), "start_timeout", lateFix));
  }
  return [...configFindings(status, parts), ...findings.values()];
}

/** What is wrong with the entry, beside what stops it: a key that is not known, a value that may not be meant. */
function configFindings({ name }: ServerStatus, parts: DoctorParts): readonly Finding[] {
  const own = parts.host.configProblems.filter(({ serverName }) => serverName === name);
  return findingsOf(own).map((it) => findingOf("config", it, name));
}

async function connect(
  before: ServerStatus,
  { host, clock }: DoctorParts,
  { limit, timeoutMs: total }: Limit,
): Promise<Attempt> {
  const { name, config } = before;
  const own = config.connectTimeoutMs ?? 0;
  const timeoutMs = own === 0 ? total : Math.min(own, total);
  const since = clock.monotonic();
  try {
    const status = await host.connect(name, { signal: limit.signal, timeoutMs });
    return { status, error: undefined, elapsedMs: clock.monotonic() - since };
  } catch (error) {
    if (!McpError.is(error)) throw error;
    const isLate = error.code === "cancelled" && limit.isOutOfTime;
    return {
      status: before,
      error: isLate
        ? createError("start_timeout", lateText(total), { serverName: name, hint: lateFix })
        : error,
      elapsedMs: clock.monotonic() - since,
    };
  }
}

const lateFix =
  "look whether it needs longer than this, as the first start of npx does: plugboard test <server> --timeout 2m";

function lateText(timeoutMs: number): string {
  return `no answer within ${timeoutMs / 1_000} s`;
}
