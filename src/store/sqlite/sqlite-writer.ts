import type { Worker } from "node:worker_threads";

import type { Compilable } from "kysely";

import { startThread } from "../../ports/thread-module.ts";
import type { Durability, MigrationStep } from "../tables/store-database.ts";
import { lookWhetherSaved, sqliteError, storeClosed, storeError } from "../tables/store-error.ts";
import { fileIdentity } from "./file-identity.mjs";
import { requireSqlite } from "./find-sqlite.ts";
import { toBatchStatement, toBatchStep } from "./sqlite-statements.ts";
import {
  isBusy,
  WriteConnection,
  type WriterData,
  type WriterTask,
} from "./sqlite-write-connection.mjs";
import { sqliteWriterModule } from "./sqlite-writer-module.ts";
import type { WriterAnswer, WriterFailure, WriterJob } from "./sqlite-writer-thread.mjs";

/** So long a write waits for other processes; each of theirs takes milliseconds. */
const defaultLockWaitMs = 15_000;
/** So long a write in place holds up the event loop for other processes before a thread waits for them. */
const inPlaceLockWaitMs = 20;

export interface SqliteWriterOptions {
  readonly lockWaitMs?: number | undefined;
  /**
   * Writes in the event loop instead of a thread, for a process that does nothing else meanwhile: to start a thread takes
   * 32 ms of CPU time. Where another process holds the file, a thread waits for it all the same.
   */
  readonly isInPlace?: boolean | undefined;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes to one SQLite file in the order asked for, from a thread of its own unless told otherwise. The thread starts with
 * the first write and keeps the process alive only while a write is under way.
 */
export class SqliteWriter {
  readonly #file: string;
  readonly #data: WriterData;
  /** Undefined where a thread writes. */
  #inPlace: WriteConnection | undefined;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #nextId = 0;
  #closing: Promise<void> | undefined;

  constructor(file: string, options: SqliteWriterOptions = {}) {
    const { lockWaitMs = defaultLockWaitMs, isInPlace = false } = options;
    this.#file = file;
    // The identity is undefined for a file that has to be made first.
    this.#data = { driver: requireSqlite(file), file, identity: fileIdentity(file), lockWaitMs };
    if (isInPlace)
      this.#inPlace = new WriteConnection({ ...this.#data, lockWaitMs: inPlaceLockWaitMs });
  }

  async write(
    statements: readonly Compilable[],
    durability: Durability,
  ): Promise<readonly number[]> {
    return (await this.#ask({
      kind: "batch",
      statements: statements.map(toBatchStatement),
      durability,
    })) as readonly number[];
  }

  async migrate(steps: readonly MigrationStep[]): Promise<void> {
    await this.#ask({ kind: "migrate", steps: steps.map(toBatchStep) });
  }

  async check(): Promise<readonly string[]> {
    return (await this.#ask({ kind: "check" })) as readonly string[];
  }

  async erase(): Promise<boolean> {
    return (await this.#ask({ kind: "erase" })) as boolean;
  }

  /** Writes asked for before are finished first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#inPlace?.perform({ kind: "close" });
    const worker = this.#worker;
    if (worker === undefined) return;
    const exit = new Promise<void>((resolve) => {
      worker.once("exit", () => resolve());
    });
    await this.#send(worker, { kind: "close" });
    // Otherwise a process with nothing else to do would end while somebody waits for this.
    worker.ref();
    await exit;
  }

  #ask(task: WriterTask): Promise<unknown> {
    if (this.#closing !== undefined) return Promise.reject(storeClosed(this.#file));
    if (this.#inPlace !== undefined) {
      try {
        return Promise.resolve(this.#inPlace.perform(task));
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(sqliteError(error, this.#file));
        this.#inPlace.perform({ kind: "close" });
        this.#inPlace = undefined;
      }
    }
    this.#worker ??= this.#start();
    return this.#send(this.#worker, task);
  }

  #send(worker: Worker, task: WriterTask): Promise<unknown> {
    const id = (this.#nextId += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id, task } satisfies WriterJob);
    });
  }

  #start(): Worker {
    const worker = startThread(sqliteWriterModule, { workerData: this.#data });
    worker.on("message", (answer: WriterAnswer) => this.#settle(worker, answer));
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", () => this.#lose(worker));
    return worker;
  }

  #settle(worker: Worker, answer: WriterAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) worker.unref();
    if ("failure" in answer) pending?.reject(sqliteError(asError(answer.failure), this.#file));
    else pending?.resolve(answer.value);
  }

  /** The thread is gone: what it was asked may or may not be saved. The next write starts another. */
  #lose(worker: Worker, cause?: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost)
      reject(storeError("other", this.#file, { cause, hint: lookWhetherSaved }));
  }
}

function asError({ errcode, message }: WriterFailure): Error {
  return Object.assign(new Error(message), { errcode });
}
