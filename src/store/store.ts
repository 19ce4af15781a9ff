import type { AuditLog } from "./audit/audit-log.ts";
import type { ApprovalRows } from "./rows/approval-rows.ts";
import type { StoreChangeListener } from "./rows/area-writes.ts";
import type { CatalogRows } from "./rows/catalog-rows.ts";
import type { ConnectRequestRows } from "./rows/connect-request-rows.ts";
import type { Erasure } from "./rows/erasure.ts";
import type { FailureRows } from "./rows/failure-rows.ts";
import type { GrantRows } from "./rows/grant-rows.ts";
import type { LeaseRows } from "./rows/lease-rows.ts";
import type { PinRows } from "./rows/pin-rows.ts";
import type { SecretRows } from "./rows/secret-rows.ts";
import type { ServerRows } from "./rows/server-rows.ts";

/**
 * What the host remembers, shared by every process that opens the same place. A promise of a change
 * resolves when the change is on the disk, except for statuses, failures, the catalog, requests to connect and the
 * audit trail, which only survive the process. Every failure is `store_failed`, and then nothing was changed, unless its
 * hint says to look: the connection or the thread that was to say so can be lost.
 */
export interface Store extends AsyncDisposable {
  /** The file or address, without credentials. */
  readonly place: string;
  readonly servers: ServerRows;
  readonly approvals: ApprovalRows;
  readonly grants: GrantRows;
  readonly pins: PinRows;
  readonly catalog: CatalogRows;
  readonly secrets: SecretRows;
  readonly leases: LeaseRows;
  readonly connectRequests: ConnectRequestRows;
  readonly failures: FailureRows;
  readonly audit: AuditLog;
  readonly erasure: Erasure;
  /** Tells, within a second, what other processes have changed; the returned function ends that. */
  onchange(listener: StoreChangeListener): () => void;
  /** What an integrity check complains about; reads the whole store, off the event loop. */
  check(): Promise<readonly string[]>;
  /** Saves what waits, then lets go of the place. Anything asked afterwards fails as `closed`. */
  close(): Promise<void>;
}
