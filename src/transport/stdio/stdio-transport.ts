import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { CheckedLaunch } from "../../isolation/process/checked-launch.ts";
import type { ProcessTree } from "../../isolation/process/process-tree.ts";
import { stopProcessTree } from "../../isolation/process/stop-process-tree.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type {
  HostTransport,
  PrintedCause,
  ProcessOutput,
  TransportEvidence,
} from "../host-transport.ts";
import { MessageReader } from "../reading/message-reader.ts";
import { causeInOutput } from "../reading/output-cause.ts";
import { readTurns } from "../reading/read-turns.ts";
import { sanitizeLine } from "../reading/sanitize-line.ts";
import { PipeRead } from "./pipe-read.ts";
import { serverLoss } from "./server-loss.ts";
import { launchError, spawnServer } from "./spawn-server.ts";
import { StderrDrain } from "./stderr-drain.ts";
import { WriteQueue } from "./write-queue.ts";

export interface StdioTransportOptions {
  readonly serverName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** The child's environment: nothing is added to it but the marker that names its descendants. */
  readonly env: Readonly<Record<string, string>>;
  /** What was checked and may be started; whatever the command stands for without it. */
  readonly checked?: CheckedLaunch | undefined;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Values that must not be shown, wherever the server prints them. */
  readonly secrets?: readonly string[] | undefined;
  /** The first line on stdout that is no message ends the connection. */
  readonly strict?: boolean | undefined;
  /** Where what the process prints for people is kept; nowhere without it. */
  readonly output?: ProcessOutput | undefined;
}

/**
 * Time between the first sign of the end (exit, closed pipe) and the verdict: what the server wrote
 * last is still on its way, but a child of its may hold the pipe open for ever.
 */
const endGraceMs = 100;
const maxTargetChars = 500;

/**
 * A server as a child process that speaks newline-delimited JSON-RPC on stdin and stdout. Not yet
 * started; `onclose` follows the first of failure and `close()`, while the processes may still be
 * ending: `close()` resolves when none is left.
 */
export function createStdioTransport(options: StdioTransportOptions): HostTransport {
  return new StdioTransport(options);
}

/** What exists from the moment the process runs. */
interface RunningServer {
  readonly child: ChildProcessWithoutNullStreams;
  readonly tree: ProcessTree;
  readonly exited: Promise<void>;
  readonly queue: WriteQueue;
  readonly reader: MessageReader;
  readonly stderr: StderrDrain;
}

class StdioTransport implements HostTransport {
  readonly kind = "stdio";
  onclose: HostTransport["onclose"];
  onerror: HostTransport["onerror"];
  onmessage: HostTransport["onmessage"];

  readonly #options: StdioTransportOptions;
  readonly #secrets: readonly string[];
  readonly #target: string;
  #starting: Promise<void> | undefined;
  #startedAt = 0;
  #running: RunningServer | undefined;
  #hasReceived = false;
  #exitedAt: number | undefined;
  #endTimer: Timer | undefined;
  /** Why nothing is sent or delivered any more: the failure, or that `close()` was called. */
  #ended: McpError | undefined;
  #failure: McpError | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: StdioTransportOptions) {
    const { command, args, secrets = [] } = options;
    this.#options = options;
    // Output is looked at line by line, and a private key has many.
    this.#secrets = secrets;
    this.#target = sanitizeLine([command, ...args].join(" "), maxTargetChars, this.#secrets);
  }

  get failure(): McpError | undefined {
    return this.#failure;
  }

  get pid(): number | undefined {
    return this.#exitedAt === undefined ? this.#running?.child.pid : undefined;
  }

  get evidence(): TransportEvidence {
    const { child, stderr, reader } = this.#running ?? {};
    const hasExited = this.#exitedAt !== undefined;
    return {
      target: this.#target,
      pid: child?.pid,
      exitCode: hasExited ? child?.exitCode : undefined,
      signal: hasExited ? child?.signalCode : undefined,
      stderrTail: stderr?.tail(),
      logFile: this.#options.output?.file,
      stdoutHead: reader?.junkHead,
      junkMessages: reader?.junkMessages ?? 0,
    };
  }

  findCause(): PrintedCause | undefined {
    if (this.#running === undefined) return undefined;
    const { stderr, reader } = this.#running;
    const complaint = stderr.cause();
    const said = complaint && { ...complaint, stream: "stderr" as const };
    if (said !== undefined && said.kind !== "output") return said;
    // A server that has sent a message is one, whatever else it prints between its messages.
    const printed = this.#hasReceived ? undefined : causeInOutput(reader.junkHead);
    return printed === undefined ? said : { ...printed, stream: "stdout" };
  }

  slowDown(): void {
    readTurns.slowDown();
  }

  /** Resolves when the process runs; whether it is a server, only its messages will show. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (this.#running !== undefined) return this.#running.queue.send(message, options?.text);
    return Promise.reject(this.#ended ?? this.#stateError("not_connected", "is not started"));
  }

  async close(): Promise<void> {
    this.#running?.queue.flush();
    this.#end(this.#stateError("closed", "is closed"));
    // A start under way finds that it is no longer wanted.
    await this.#starting?.catch(() => {});
    await this.#stop();
  }

  async #start(): Promise<void> {
    this.#throwIfEnded();
    this.#startedAt = this.#options.clock.monotonic();
    try {
      const { child, tree } = await spawnServer(this.#options);
      this.#running = this.#attach(child, tree);
    } catch (error) {
      this.#fail(error as McpError);
      throw error;
    }
    this.#throwIfEnded();
  }

  #throwIfEnded(): void {
    if (this.#ended === undefined) return;
    this.#running?.queue.stop(this.#ended);
    throw this.#ended;
  }

  #attach(child: ChildProcessWithoutNullStreams, tree: ProcessTree): RunningServer {
    const { serverName, limits, clock, logger, strict = false, output } = this.#options;
    const common = { serverName, clock, logger, secrets: this.#secrets };
    const reader = new MessageReader({
      ...common,
      limits,
      strict,
      onMessage: (message, text) => this.#deliver(message, text),
    });
    const read = new PipeRead(child.stdout);
    let isHeard = false;
    child.stdout.on("data", (chunk: Buffer) => {
      if (this.#ended !== undefined) return;
      // Its first words wait until its children can be found again: so it is called after that, and not before.
      isHeard ||= tree.isMarked();
      if (!isHeard) return putBack(child.stdout, chunk, tree);
      read.begin();
      const error = reader.push(chunk);
      if (error === undefined) read.took(chunk);
      else this.#fail(error);
    });
    const exited = new Promise<void>((resolve) => {
      child.on("exit", () => {
        this.#exitedAt = clock.monotonic();
        read.stop();
        // Anew: an earlier sign must not cut short the time for what was written last.
        this.#endTimer?.cancel();
        this.#endTimer = undefined;
        this.#expectEnd();
        resolve();
      });
      // Windows: the interpreter of a `.cmd` shim ran, and what it was to run does not exist.
      child.on("error", (cause) => {
        resolve();
        this.#fail(launchError(this.#options, cause));
      });
    });
    for (const [stream, sign] of [
      [child.stdout, "end"],
      [child.stdout, "error"],
      [child.stdin, "error"],
    ] as const)
      stream.on(sign, () => this.#expectEnd());
    child.on("close", () => this.#lose());
    letProcessEnd(child);
    return {
      child,
      tree,
      exited,
      reader,
      queue: new WriteQueue(child.stdin, {
        serverName,
        clock,
        maxQueuedBytes: limits.maxMessageBytes,
        timeoutMs: limits.callTimeoutMs,
      }),
      stderr: new StderrDrain(child.stderr, { ...common, maxBytes: limits.maxStderrBytes, output }),
    };
  }

  #deliver(message: JSONRPCMessage, text: string): boolean {
    this.#hasReceived = true;
    try {
      this.onmessage?.(message, Array.isArray(message) ? undefined : text);
    } catch (error) {
      this.#reportHandler(error);
    }
    return this.#ended === undefined;
  }

  #expectEnd(): void {
    if (this.#ended !== undefined) return;
    this.#endTimer ??= this.#options.clock.schedule(endGraceMs, () => {
      // A busy machine may run the timer before what is long readable has been read; that is done
      // between timers and immediates.
      setImmediate(() => this.#lose());
    });
  }

  #fail(error: McpError): void {
    if (this.#ended !== undefined) return;
    this.#failure = error;
    // Nothing more is read: a flood must not go on costing time and memory.
    this.#running?.child.stdout.destroy();
    this.#end(error);
    void this.#stop();
  }

  #end(reason: McpError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#endTimer?.cancel();
    this.#running?.queue.stop(reason);
    try {
      if (this.#failure !== undefined) this.onerror?.(this.#failure);
      this.onclose?.();
    } catch (error) {
      this.#reportHandler(error);
    }
  }

  /** Ends the processes, once; resolves at once when there never were any. */
  #stop(): Promise<void> {
    if (this.#running === undefined) return Promise.resolve();
    this.#stopping ??= this.#stopServer(this.#running);
    return this.#stopping;
  }

  async #stopServer({ child, tree, exited, stderr }: RunningServer): Promise<void> {
    const { limits, clock, output } = this.#options;
    const wasRunning = this.#exitedAt === undefined;
    await stopProcessTree({
      tree,
      exited,
      endInput: () => child.stdin.end(),
      termAfterMs: limits.stopTermAfterMs,
      graceMs: limits.stopGraceMs,
      clock,
    });
    stderr.end();
    if (wasRunning) output?.stopped({ exitCode: child.exitCode, signal: child.signalCode });
    // Whoever still holds the other ends was not started by this server.
    for (const stream of child.stdio) stream?.destroy();
  }

  /** The server is gone, or as good as. */
  #lose(): void {
    if (this.#ended !== undefined) return;
    // Its last words stand in the log before its end.
    this.#running?.stderr.end();
    this.#fail(
      serverLoss({
        serverName: this.#options.serverName,
        evidence: this.evidence,
        cause: this.findCause(),
        afterMs: this.#exitedAt === undefined ? undefined : this.#exitedAt - this.#startedAt,
        hasReceived: this.#hasReceived,
        closedPipe: this.#running?.child.stdout.readableEnded === true ? "output" : "input",
      }),
    );
  }

  #stateError(code: "closed" | "not_connected", what: string): McpError {
    const { serverName } = this.#options;
    return createError(code, `the connection to the server ${what}`, { serverName });
  }

  /** A handler that fails must not change what happens to the bytes that follow. */
  #reportHandler(error: unknown): void {
    const { logger, serverName } = this.#options;
    logger.error("a handler of the transport failed", { serverName, error: String(error) });
  }
}

const markPollMs = 5;

/** Gives the chunk back to the stream, which goes on with it when the process tree is marked. */
function putBack(stream: Readable, chunk: Buffer, tree: ProcessTree): void {
  stream.pause();
  stream.unshift(chunk);
  const poll = setInterval(() => {
    if (!tree.isMarked()) return;
    clearInterval(poll);
    stream.resume();
  }, markPollMs).unref();
}

/** A server that nobody waits for does not keep the host's process alive; it ends with that process. */
function letProcessEnd(child: ChildProcessWithoutNullStreams): void {
  child.unref();
  // Pipes are sockets to Node; the declared types hide it.
  for (const pipe of [child.stdin, child.stdout, child.stderr] as unknown as Socket[]) pipe.unref();
}
