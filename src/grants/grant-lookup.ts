import type { ConsentId } from "../config/server-ids.ts";

/** One tool of one server for one agent: what a lasting "yes" is bound to. */
export interface GrantSubject {
  readonly agent: string;
  readonly consentId: ConsentId;
  readonly toolName: string;
  /** Of the definition the person saw. */
  readonly fingerprint: string;
}

/** What people have allowed for good, as the judge of a session looks it up. */
export interface GrantLookup {
  /** Grows with every change. */
  readonly revision: number;
  /** Until when it is granted (`Infinity`: until it is revoked); undefined when it is not. */
  grantedUntil(subject: GrantSubject): number | undefined;
  /** Resolves when it is kept; rejects with `store_failed`. */
  grant(subjects: readonly GrantSubject[]): Promise<void>;
}
