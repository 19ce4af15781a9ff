import type { ErrorCode } from "../errors/error-codes.ts";

/** `warning`: it works, and something about it may not be meant. `problem`: it does not work. */
export type DoctorVerdict = "ok" | "warning" | "problem";

/** The result of one check. `docs/troubleshooting.md` lists the checks. */
export interface Finding {
  /** The id of the check: `command`, `tls`, … */
  readonly check: string;
  /** The statement that the check is about: `its certificate is trusted`. */
  readonly title: string;
  readonly verdict: DoctorVerdict;
  /** What was seen, on one line without secrets. */
  readonly evidence: string;
  /** What to do about a warning or a problem. */
  readonly fix?: string;
  /** The error that a problem leads to. */
  readonly code?: ErrorCode;
}

/** The findings about one server, or the finding of one check of the machine. */
export interface DoctorReport {
  /** Undefined: it is about this machine and the host's own files. */
  readonly server: string | undefined;
  /** The worst verdict among the findings. */
  readonly verdict: DoctorVerdict;
  readonly findings: readonly Finding[];
}

export interface DoctorOptions {
  /** The time for everything; 15 s by default. What is not known by then is reported as such. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each report as soon as it is complete. */
  readonly onReport?: ((report: DoctorReport) => void) | undefined;
}
