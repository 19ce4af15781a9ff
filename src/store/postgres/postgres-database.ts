import {
  type Compilable,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import type pg from "pg";
import type { Client, CustomTypesConfig, Pool, PoolClient } from "pg";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { findOptionalPackage, requireFile } from "../../ports/optional-package.ts";
import { redact } from "../../text/secrets/redact.ts";
import { createQueryBuilder } from "../tables/query-builder.ts";
import type {
  Durability,
  MigrationStep,
  QueryBuilder,
  SchemaState,
  StoreDatabase,
} from "../tables/store-database.ts";
import { storeClosed } from "../tables/store-error.ts";
import { fromStored, toStored } from "../tables/stored-text.ts";
import { commitUnknown, isTransient, isWithoutAnswer, postgresError } from "./postgres-error.ts";

const maxConnections = 4;
const connectTimeoutMs = 10_000;
const statementTimeoutMs = 30_000;
/** For a database that does not even say that it gave up: longer than it has itself. */
const defaultAnswerTimeoutMs = 35_000;
const maxTries = 10;
/** Notices arrive at once; looking now and then covers one that was lost with its connection. */
const watchIntervalMs = 5_000;
const channel = "plugboard_changes";
/** Any number that other programs are unlikely to lock. */
const migrationLock = 7_584_286_101;

export interface PostgresOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long an answer may take before the database counts as unreachable. */
  readonly answerTimeoutMs?: number | undefined;
}

interface ConnectionSettings {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  readonly statement_timeout: number;
  readonly query_timeout: number;
  readonly keepAlive: boolean;
  readonly types: CustomTypesConfig;
}

/** A Postgres database shared by hosts on many machines. */
export class PostgresDatabase implements StoreDatabase {
  readonly dialect = "postgres";
  readonly place: string;
  readonly #pool: Pool;
  readonly #createClient: () => Client;
  readonly #clock: Clock;
  /** A pool that is ended serves nobody who still waits for a connection. */
  readonly #underWay = new Set<Promise<unknown>>();
  #lastTransaction: Promise<unknown> = Promise.resolve();
  #builder: Promise<QueryBuilder> | undefined;
  #ending: Promise<void> | undefined;
  #isClosed = false;

  private constructor(
    place: string,
    pool: Pool,
    createClient: () => Client,
    { clock, logger }: PostgresOptions,
  ) {
    this.place = place;
    this.#pool = pool;
    this.#createClient = createClient;
    this.#clock = clock;
    // A connection that breaks while idle is replaced by the next use; unheard, it would end the process.
    pool.on("error", (error) => {
      logger.warn("a connection to the database was lost", { error: error.message });
    });
    // So would one that breaks in use. Whoever uses it is told by what they asked.
    pool.on("connect", (client) => void client.on("error", () => undefined));
  }

  static async open(url: string, options: PostgresOptions): Promise<PostgresDatabase> {
    const driver = loadPg();
    const settings: ConnectionSettings = {
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: options.answerTimeoutMs ?? defaultAnswerTimeoutMs,
      keepAlive: true,
      types: {
        getTypeParser: (oid, format) => parsers[oid] ?? driver.types.getTypeParser(oid, format),
      },
    };
    const pool = new driver.Pool({ ...settings, max: maxConnections, allowExitOnIdle: true });
    return new PostgresDatabase(redact(url), pool, () => new driver.Client(settings), options);
  }

  queries(): Promise<QueryBuilder> {
    this.#builder ??= Promise.resolve(
      createQueryBuilder({
        createAdapter: () => new PostgresAdapter(),
        createIntrospector: (queries) => new PostgresIntrospector(queries),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      }),
    );
    return this.#builder;
  }

  schemaState(): Promise<SchemaState> {
    return this.#ask(async (client) => ({ version: await readVersion(client), isEmpty: true }));
  }

  migrate(steps: readonly MigrationStep[]): Promise<void> {
    return this.#askInTransaction(async (client) => {
      // Held until the transaction ends; whoever waited for it finds the work done.
      await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
      const version = await readVersion(client);
      await client.query("CREATE TABLE IF NOT EXISTS plugboard_schema (version integer NOT NULL)");
      for (const step of steps) {
        if (step.version <= version) continue;
        for (const statement of step.statements) await run(client, statement);
        await client.query("DELETE FROM plugboard_schema");
        await client.query("INSERT INTO plugboard_schema (version) VALUES ($1)", [step.version]);
      }
    });
  }

  read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    return this.#ask(async (client) => fromStored((await run(client, query)).rows as Row[]));
  }

  write(statements: readonly Compilable[], durability: Durability): Promise<readonly number[]> {
    return this.#askInTransaction(async (client) => {
      if (durability === "normal") await client.query("SET LOCAL synchronous_commit = off");
      const changed: number[] = [];
      for (const statement of statements)
        changed.push((await run(client, statement)).rowCount ?? 0);
      return changed;
    });
  }

  watch(notify: () => void): () => void {
    let isOver = false;
    let timer: Timer | undefined;
    let client: Client | undefined;
    const drop = (): void => {
      const dropped = client;
      client = undefined;
      dropped?.end().catch(() => undefined);
    };
    const listen = async (): Promise<void> => {
      const fresh = this.#createClient();
      client = fresh;
      fresh.on("error", drop);
      fresh.on("notification", notify);
      await fresh.connect();
      await fresh.query(`LISTEN ${channel}`);
      // Waiting for news is no reason to stay alive; the type of `pg` lacks the method.
      (fresh as Client & { unref(): void }).unref();
    };
    const look = async (): Promise<void> => {
      if (client === undefined) await listen().catch(drop);
      if (isOver) return drop();
      notify();
      timer = this.#clock.schedule(watchIntervalMs, () => void look());
    };
    void look();
    return () => {
      isOver = true;
      timer?.cancel();
      drop();
    };
  }

  /** The server keeps versions, logs and copies as its administrator says. */
  async erase(): Promise<boolean> {
    return true;
  }

  /** The server checks its own files. */
  async check(): Promise<readonly string[]> {
    await this.schemaState();
    return [];
  }

  /** What was asked for before is finished first. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    // Whoever waits for the builder has asked before.
    if (this.#builder !== undefined) await this.#builder;
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    await this.#pool.end();
  }

  /**
   * In the order asked for: on several connections the older of two changes could be the last. What
   * lost a race with a transaction of another host did nothing and is simply done again.
   */
  #askInTransaction<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    const before = this.#lastTransaction;
    const asked = this.#ask(async (client) => {
      for (let tries = 1; ; tries += 1) {
        let isCommitting = false;
        try {
          await client.query("BEGIN");
          const result = await task(client);
          isCommitting = true;
          await client.query("COMMIT");
          return result;
        } catch (error) {
          if (isCommitting && isWithoutAnswer(error)) throw commitUnknown(error, this.place);
          // Any other failure ends the connection, and the transaction with it.
          if (!isTransient(error) || tries >= maxTries) throw error;
          await client.query("ROLLBACK");
        }
      }
    }, before);
    this.#lastTransaction = asked.catch(() => undefined);
    return asked;
  }

  async #ask<T>(task: (client: PoolClient) => Promise<T>, before?: Promise<unknown>): Promise<T> {
    if (this.#isClosed) throw storeClosed(this.place);
    const asked = this.#perform(task, before);
    this.#underWay.add(asked);
    try {
      return await asked;
    } finally {
      this.#underWay.delete(asked);
    }
  }

  async #perform<T>(
    task: (client: PoolClient) => Promise<T>,
    before: Promise<unknown> | undefined,
  ): Promise<T> {
    let client: PoolClient | undefined;
    let hasFailed = true;
    try {
      await before;
      client = await this.#pool.connect();
      const result = await task(client);
      hasFailed = false;
      return result;
    } catch (error) {
      throw McpError.is(error) ? error : postgresError(error, this.place);
    } finally {
      // Who knows what state a connection is in on which something failed: it is not used again.
      client?.release(hasFailed);
    }
  }
}

/** `bigint` counts milliseconds and rows, which numbers hold; JSON stays the text it was. */
const parsers: Readonly<Record<number, (value: string) => unknown>> = {
  20: Number,
  114: (text) => text,
};

function run(client: PoolClient, statement: Compilable) {
  const { sql, parameters } = statement.compile();
  return client.query(sql, parameters.map(toStored));
}

async function readVersion(client: PoolClient): Promise<number> {
  // Not `to_regclass`: that may still remember, from before the lock, that there is no such table.
  const { rowCount } = await client.query(
    "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'plugboard_schema'",
  );
  if (rowCount === 0) return 0;
  const { rows } = await client.query("SELECT max(version) AS version FROM plugboard_schema");
  return (rows[0] as { readonly version: number | null }).version ?? 0;
}

function loadPg(): typeof pg {
  const file = findOptionalPackage("pg");
  if (file === undefined)
    throw createError(
      "store_failed",
      "a store in Postgres needs the package pg, which is missing",
      { hint: "npm install pg@8" },
    );
  return requireFile(file) as typeof pg;
}
