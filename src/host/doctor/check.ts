import type { Machine } from "../../approval/locate-launch.ts";
import type { LookedAt } from "../../config/files/load-config.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Vault } from "../../secrets/vault.ts";
import type { Session } from "../../session/session.ts";
import type { HostStore } from "../../store/host-store.ts";
import { ownCommandsIn, ownProgram } from "../../text/own-command.ts";
import { shellWord } from "../../text/shell-word.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { DoctorVerdict, Finding } from "../doctor-report.ts";
import type { McpHost } from "../host.ts";
import type { SecretSource } from "../secrets/secret-source.ts";
import type { ServerLogins } from "../servers/sign-in-servers.ts";
import { type CheckId, checkTexts } from "./check-texts.ts";

/** The parts of a host that its checks look at. */
export interface DoctorParts {
  readonly host: Pick<
    McpHost,
    "servers" | "connect" | "checkConnections" | "configProblems" | "audit" | "logs"
  >;
  readonly store: HostStore;
  /** The file or address of the store; undefined where nothing is kept. */
  readonly storeLocation: string | undefined;
  readonly secrets: Pick<SecretSource, "missing">;
  readonly vault: Pick<Vault, "status">;
  readonly logins: Pick<ServerLogins, "status" | "examine">;
  /** The configuration files that were looked for. */
  readonly configFiles: () => readonly LookedAt[];
  /** The latest session of each agent. */
  readonly sessions: () => readonly Session[];
  readonly machine: Machine;
  readonly clock: Clock;
}

/** What a check found. The words of the check are added to it. */
export interface Found {
  readonly verdict: DoctorVerdict;
  readonly evidence: string;
  /** In place of the check's own words. */
  readonly fix?: string | undefined;
  readonly code?: ErrorCode | undefined;
}

const maxEvidence = 400;

export function ok(evidence: string): Found {
  return { verdict: "ok", evidence };
}

export function warning(evidence: string, fix?: string): Found {
  return { verdict: "warning", evidence, fix };
}

export function problem(evidence: string, code: ErrorCode, fix?: string): Found {
  return { verdict: "problem", evidence, code, fix };
}

/** A problem in the words of the error that showed it. */
export function problemOf({ code, message, hint }: McpError): Found {
  return problem(message.replaceAll(/\s*\n\s*/g, "; "), code, hint);
}

/** Joins what was found with the words of the check. `server` is the name that they stand for. */
export function findingOf(check: CheckId, found: Found, server?: string): Finding {
  const { title, fix } = checkTexts[check];
  const { verdict, evidence, code } = found;
  const finding = { check, title, verdict, evidence: serverText(evidence, maxEvidence) };
  if (verdict === "ok") return finding;
  const text = found.fix ?? fix;
  const named = server === undefined ? text : text.replaceAll("<server>", shellWord(server));
  return {
    ...finding,
    fix: ownCommandsIn(named, ownProgram()),
    ...(code === undefined ? {} : { code }),
  };
}

const ranks: Readonly<Record<DoctorVerdict, number>> = { ok: 0, warning: 1, problem: 2 };

export function worstVerdict(findings: readonly Finding[]): DoctorVerdict {
  return findings.reduce<DoctorVerdict>(
    (worst, { verdict }) => (ranks[verdict] > ranks[worst] ? verdict : worst),
    "ok",
  );
}

/** Names a few of many: `a, b, c and 4 more`. */
export function someOf(names: readonly string[], max = 3): string {
  const shown = names.slice(0, max).join(", ");
  return names.length > max ? `${shown} and ${names.length - max} more` : shown;
}
