import type { TransportKind } from "../config/keys/server-config.ts";
import type { ErrorCode } from "../errors/error-codes.ts";

/** `warn`: allowed, but trouble for some clients. `skip`: the rule does not apply, or could not be tried safely. */
export type RuleVerdict = "pass" | "fail" | "warn" | "skip";

/** What a server did about one rule. `docs/building-servers.md` lists the rules. */
export interface RuleResult {
  /** The id of the rule: `unknown-method`, … */
  readonly rule: string;
  /** The rule itself: what a server does that keeps to it. */
  readonly text: string;
  readonly verdict: RuleVerdict;
  /** What was seen, on one line without secrets. */
  readonly evidence: string;
  /** The error of a server that could not be started or reached. */
  readonly code?: ErrorCode;
}

/** How a server keeps to the protocol, rule by rule. */
export interface ContractReport {
  readonly server: string;
  /** How it was reached; for `http` the dialect that was found. */
  readonly transport: TransportKind;
  readonly protocolVersion: string | undefined;
  /** No rule was broken; there may be warnings. */
  readonly ok: boolean;
  readonly rules: readonly RuleResult[];
}

export interface ContractOptions {
  /** For the start, and for every answer; the limits of the host for a start and 10 s for an answer by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each result as soon as it is known. */
  readonly onResult?: ((result: RuleResult) => void) | undefined;
}
