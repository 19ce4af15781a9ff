import { systemClock } from "../../ports/clock.ts";
import type { Progress } from "../../protocol/protocol-client.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import type { CommandContext } from "../context/command-context.ts";
import { formatElapsed } from "../output/duration.ts";

const drawAfterMs = 300;
const frameMs = 100;
const elapsedAfterMs = 2_000;
const barWidth = 10;
const frames = {
  utf8: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
  ascii: ["|", "/", "-", "\\"],
};

type ProgressContext = Pick<CommandContext, "terminal" | "options" | "notice">;

export interface ProgressOptions {
  /** `false`: says nothing where lines cannot be redrawn, because the command itself tells each step. */
  readonly plainLines?: boolean | undefined;
}

/**
 * What a command is waiting for, on stderr: one line for each thing, drawn from the moment the wait can be felt and
 * redrawn in place below all other output. Where lines cannot be redrawn, each phase is one plain line.
 */
export class ProgressBlock {
  readonly #context: ProgressContext;
  readonly #isDrawing: boolean;
  readonly #writesLines: boolean;
  readonly #lines = new Set<ProgressLine>();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #frame = 0;

  constructor(context: ProgressContext, { plainLines = true }: ProgressOptions = {}) {
    this.#context = context;
    this.#isDrawing = context.terminal.canRedraw && !context.options.quiet;
    this.#writesLines = plainLines && !this.#isDrawing;
  }

  /** The line of a phase that has begun, for programs that read lines. */
  phaseBegan(line: ProgressLine, text: string): void {
    if (this.#writesLines) this.#context.notice(`${text} …`);
    if (!this.#isDrawing) return;
    this.#lines.add(line);
    if (this.#timer !== undefined) return;
    this.#startedAt = systemClock.monotonic();
    this.#timer = setInterval(() => this.#draw(), frameMs).unref();
    // A second Ctrl-C ends the process in the middle of everything.
    process.once("exit", this.#erase);
  }

  /** Takes one line away, and with the last one everything that was drawn. */
  remove(line: ProgressLine): void {
    if (!this.#lines.delete(line)) return;
    if (this.#lines.size === 0) this.stop();
    else this.#draw();
  }

  /** Takes all lines away. */
  stop(): void {
    this.#lines.clear();
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    process.off("exit", this.#erase);
    this.#erase();
  }

  readonly #erase = (): void => this.#context.terminal.redraw([]);

  #draw(): void {
    const now = systemClock.monotonic();
    if (now - this.#startedAt < drawAfterMs) return;
    this.#frame += 1;
    const { terminal } = this.#context;
    const cycle = terminal.hasUtf8 ? frames.utf8 : frames.ascii;
    const spinner = cycle[this.#frame % cycle.length] ?? "";
    terminal.redraw([...this.#lines].map((line) => line.render(spinner, now)));
  }
}

/** One thing that a command waits for: its phase, its progress and how long it has taken. */
export class ProgressLine {
  readonly #block: ProgressBlock;
  #phase = "";
  #progress = "";
  #startedAt: number | undefined;
  #end: string | undefined;

  /** A line of a block that shows several, or one that stands alone. */
  constructor(shown: ProgressBlock | ProgressContext, options?: ProgressOptions) {
    this.#block = shown instanceof ProgressBlock ? shown : new ProgressBlock(shown, options);
  }

  phase(text: string): void {
    this.#phase = text;
    this.#progress = "";
    this.#startedAt ??= systemClock.monotonic();
    this.#block.phaseBegan(this, text);
  }

  update(progress: Progress): void {
    this.#progress = formatProgress(progress);
  }

  /** Says what came of it; the line stays as long as its block has others to show. */
  end(text: string): void {
    this.#end = text;
  }

  /** Leaves nothing behind on the screen. */
  stop(): void {
    this.#startedAt = undefined;
    this.#block.remove(this);
  }

  /** The line at one moment. The time is that of the wait as a whole, whatever its phases are. */
  render(spinner: string, now: number): string {
    if (this.#end !== undefined) return this.#end;
    const elapsedMs = now - (this.#startedAt ?? now);
    const elapsed = elapsedMs < elapsedAfterMs ? "" : formatElapsed(elapsedMs);
    const parts = [this.#phase, "…", this.#progress, elapsed].filter((part) => part !== "");
    return `${spinner} ${parts.join(" ")}`;
  }
}

/** `██████░░░░ 3/5 reading`, or without a bar where no total is known. */
export function formatProgress({ progress, total, message }: Progress): string {
  const text = message === undefined ? "" : ` ${boundedLine(message, 60)}`;
  if (total === undefined || !(total > 0)) return `${progress}${text}`;
  const filled = Math.round(Math.min(1, Math.max(0, progress / total)) * barWidth);
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${progress}/${total}${text}`;
}
