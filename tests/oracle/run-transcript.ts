import type { Progress, ServerNotification } from "../../src/protocol/protocol-client.ts";
import { settled } from "../fixtures/protocol/manual-clock.ts";
import { MessageLog } from "./message-log.ts";
import type { Observation, OperationObservation, Outcome } from "./observation.ts";
import type { Stage } from "./stage.ts";
import {
  type Connected,
  defaultTimeoutMs,
  type RequestOperation,
  type Subject,
} from "./subject.ts";
import type { Operation, Transcript } from "./transcript.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Longer than every timeout a transcript can ask for. */
const patienceMs = 120_000;
const stepMs = 500;

/** One operation under way. */
interface Run {
  outcome: Outcome | undefined;
  readonly progress: Progress[];
  readonly abort: AbortController;
}

/**
 * Has one client do what the transcript says. Nothing depends on how fast the machine is: an operation
 * begins when everything said before has been dealt with, and time passes only when nothing else can
 * happen any more.
 */
export async function runTranscript(
  transcript: Transcript,
  subject: Subject,
  stage: Stage,
): Promise<Observation> {
  using time = new VirtualTime();
  return await new Performance({ transcript, subject, stage, time }).play();
}

interface PerformanceParts {
  readonly transcript: Transcript;
  readonly subject: Subject;
  readonly stage: Stage;
  readonly time: VirtualTime;
}

class Performance {
  readonly #transcript: Transcript;
  readonly #subject: Subject;
  readonly #stage: Stage;
  readonly #time: VirtualTime;
  readonly #log: MessageLog;
  readonly #notifications: ServerNotification[] = [];
  readonly #runs: Run[] = [];
  #hasEnded = false;

  constructor({ transcript, subject, stage, time }: PerformanceParts) {
    this.#transcript = transcript;
    this.#subject = subject;
    this.#stage = stage;
    this.#time = time;
    this.#log = new MessageLog(stage.transport.sent);
  }

  async play(): Promise<Observation> {
    let client: Connected | undefined;
    const connect = this.#begin(async () => {
      client = await this.#subject.connect({
        transcript: this.#transcript,
        transport: this.#stage.transport,
        clock: this.#time.clock,
        onNotification: (notification) => this.#notifications.push(notification),
        onClose: () => {
          this.#hasEnded = true;
        },
      });
      return client.server;
    });
    await this.#finish(connect);
    this.#log.assign("connect");
    const operations = client === undefined ? [] : await this.#operate(client);
    const hasEnded = this.#hasEnded;
    await client?.close();
    await this.#stage.idle();
    return {
      connect: this.#observe(connect, "connect"),
      operations,
      notifications: this.#notifications,
      answers: this.#log.unassigned(),
      hasEnded,
    };
  }

  async #operate(client: Connected): Promise<OperationObservation[]> {
    const { operations } = this.#transcript;
    for (const [index, operation] of operations.entries()) {
      const run = await this.#operation(client, operation);
      this.#runs.push(run);
      this.#log.assign(index);
    }
    for (const [index, run] of this.#runs.entries()) {
      await this.#finish(run);
      this.#log.assign(index);
    }
    return this.#runs.map((run, index) => this.#observe(run, index));
  }

  async #operation(client: Connected, operation: Operation): Promise<Run> {
    switch (operation.do) {
      case "abort":
        this.#runs[operation.operation]?.abort.abort();
        return await this.#done();
      case "pass":
        await this.#time.advance(operation.ms);
        return await this.#done();
      case "close":
        return await this.#finish(this.#begin(() => client.close()));
      case "listTools":
      case "callTool":
      case "request":
      case "ping": {
        const run = this.#request(client, operation);
        if (operation.concurrent !== true) return await this.#finish(run);
        await this.#stage.idle();
        return run;
      }
    }
  }

  #request(client: Connected, operation: RequestOperation): Run {
    return this.#begin(({ abort, progress }) => {
      if (operation.do === "callTool" && operation.aborted === true) abort.abort();
      return client.run(operation, {
        signal: abort.signal,
        timeoutMs: operation.timeoutMs ?? defaultTimeoutMs,
        onProgress:
          operation.progress === true ? (report) => void progress.push(report) : undefined,
      });
    });
  }

  #begin(action: (run: Run) => Promise<unknown>): Run {
    const run: Run = { outcome: undefined, progress: [], abort: new AbortController() };
    action(run).then(
      (value) => {
        run.outcome = { ok: true, value };
      },
      (error: unknown) => {
        const isOpen = this.#runs.length === 0 || !this.#stage.transport.isClosed;
        run.outcome = { ok: false, failure: this.#subject.failureOf(error, isOpen) };
      },
    );
    return run;
  }

  async #done(): Promise<Run> {
    await this.#stage.idle();
    return await this.#finish(this.#begin(() => Promise.resolve()));
  }

  /** Lets time pass until the operation has ended. */
  async #finish(run: Run): Promise<Run> {
    for (let passedMs = 0; ; passedMs += stepMs) {
      await this.#stage.idle();
      await settled();
      if (run.outcome !== undefined) return run;
      if (passedMs > patienceMs) break;
      await this.#time.advance(stepMs);
    }
    run.outcome = { ok: false, failure: { kind: "hung" } };
    return run;
  }

  #observe({ outcome, progress }: Run, operation: number | "connect"): OperationObservation {
    return {
      outcome: outcome ?? { ok: false, failure: { kind: "hung" } },
      progress,
      sent: this.#log.of(operation),
    };
  }
}
