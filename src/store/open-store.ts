import { McpError } from "../errors/mcp-error.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import { type Logger, silentLogger } from "../ports/logger.ts";
import { type AuditLimits, AuditLog } from "./audit/audit-log.ts";
import { ApprovalRows } from "./rows/approval-rows.ts";
import { AreaWrites, type StoreContext } from "./rows/area-writes.ts";
import { CatalogRows } from "./rows/catalog-rows.ts";
import { ConnectRequestRows } from "./rows/connect-request-rows.ts";
import { Erasure } from "./rows/erasure.ts";
import { FailureRows } from "./rows/failure-rows.ts";
import { GrantRows } from "./rows/grant-rows.ts";
import { LeaseRows } from "./rows/lease-rows.ts";
import { PinRows } from "./rows/pin-rows.ts";
import { SecretRows } from "./rows/secret-rows.ts";
import { ServerRows } from "./rows/server-rows.ts";
import { keepAside } from "./sqlite/keep-aside.ts";
import type { Store } from "./store.ts";
import type { StoreDatabase } from "./tables/store-database.ts";
import { storeError } from "./tables/store-error.ts";
import { parseStoreLocation, type StoreLocation } from "./tables/store-location.ts";

export interface OpenStoreOptions {
  /** `":memory:"`, `postgres://…`, or the path of a file, which is created when missing. */
  readonly location: string;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  readonly auditLimits?: AuditLimits | undefined;
  /** How long a write to a file waits for other processes. */
  readonly lockWaitMs?: number | undefined;
  /** Whether a file is written to without a thread; see `SqliteWriterOptions`. */
  readonly isInPlace?: boolean | undefined;
}

/** A store of this version may have thousands of pages to convert, which nobody waits for. */
const lastVersionOfBinaryPages = 2;

/** Opens the store, creating or updating it when needed. The database's code is loaded here, not before. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { clock = systemClock, logger = silentLogger, auditLimits } = options;
  const location = parseStoreLocation(options.location);
  const database = await openDatabase(location, { ...options, clock, logger });
  try {
    const { migrateStore } = await import("./tables/migrate-store.ts");
    const version = await migrateStore(database);
    const areas = await AreaWrites.start(database, logger);
    const store = createStore({ database, areas, clock, logger }, auditLimits);
    if (version === lastVersionOfBinaryPages) void store.audit.convert();
    return store;
  } catch (error) {
    await database.close().catch(() => undefined);
    throw await withCopyAside(error, location);
  }
}

async function openDatabase(
  location: StoreLocation,
  options: OpenStoreOptions & { readonly clock: Clock; readonly logger: Logger },
): Promise<StoreDatabase> {
  switch (location.kind) {
    case "memory": {
      const { MemoryDatabase } = await import("./sqlite/memory-database.ts");
      return new MemoryDatabase();
    }
    case "file": {
      const { SqliteFileDatabase } = await import("./sqlite/sqlite-file-database.ts");
      return SqliteFileDatabase.open(location.file, options);
    }
    case "postgres": {
      const { PostgresDatabase } = await import("./postgres/postgres-database.ts");
      return PostgresDatabase.open(location.url, options);
    }
  }
}

function createStore(context: StoreContext, auditLimits: AuditLimits | undefined): Store {
  const { database, areas } = context;
  const audit = new AuditLog(context, auditLimits);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      areas.stop();
      await database.close();
    })();
    return closing;
  };
  return {
    place: database.place,
    servers: new ServerRows(context),
    approvals: new ApprovalRows(context),
    grants: new GrantRows(context),
    pins: new PinRows(context),
    catalog: new CatalogRows(context),
    secrets: new SecretRows(context),
    leases: new LeaseRows(context),
    connectRequests: new ConnectRequestRows(context),
    failures: new FailureRows(context),
    audit,
    erasure: new Erasure(context),
    onchange: (listener) => areas.onchange(listener),
    check: () => database.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of a damaged file a copy is made before anybody tries to mend it; the error says where it is. */
async function withCopyAside(error: unknown, location: StoreLocation): Promise<unknown> {
  const isDamage = McpError.is(error, "store_failed") && error.details["problem"] === "corrupt";
  if (!isDamage || location.kind !== "file") return error;
  const copy = await keepAside(location.file);
  if (copy === undefined) return error;
  return storeError("corrupt", location.file, {
    cause: error.cause,
    hint: `a copy is kept in ${copy}; restore ${location.file} from a backup, or move it away to start with an empty one`,
    details: { ...error.details, copy },
  });
}
