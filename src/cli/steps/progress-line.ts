import type { Progress } from "../../protocol/protocol-client.ts";
import { truncate } from "../../text/truncate.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { formatElapsed } from "../output/duration.ts";
import type { CommandContext } from "./command-context.ts";

const drawAfterMs = 300;
const frameMs = 100;
const elapsedAfterMs = 2_000;
const barWidth = 10;
const frames = {
  utf8: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
  ascii: ["|", "/", "-", "\\"],
};

type ProgressContext = Pick<CommandContext, "terminal" | "options" | "notice">;

/**
 * What a command is waiting for, on stderr. On a terminal one line that redraws itself, from the moment
 * the wait can be felt; elsewhere one plain line per phase.
 */
export class ProgressLine {
  readonly #context: ProgressContext;
  readonly #isDrawing: boolean;
  readonly #writesLines: boolean;
  #timer: NodeJS.Timeout | undefined;
  #phase = "";
  #progress = "";
  #startedAt = 0;
  #frame = 0;
  #isShown = false;

  /** `plainLines: false` says nothing where lines cannot be redrawn: the command itself tells each step. */
  constructor(context: ProgressContext, { plainLines = true } = {}) {
    this.#context = context;
    this.#isDrawing = context.terminal.canRedraw && !context.options.quiet;
    this.#writesLines = plainLines && !this.#isDrawing;
  }

  phase(text: string): void {
    this.#phase = text;
    this.#progress = "";
    if (this.#writesLines) this.#context.notice(`${text} …`);
    if (!this.#isDrawing) return;
    this.#startedAt = performance.now();
    this.#timer ??= setInterval(() => this.#draw(), frameMs).unref();
  }

  update(progress: Progress): void {
    this.#progress = formatProgress(progress);
  }

  /** Leaves nothing behind on the screen. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) this.#context.terminal.redraw("");
    this.#isShown = false;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (!this.#isShown && elapsedMs < drawAfterMs) return;
    this.#isShown = true;
    this.#frame += 1;
    const { terminal } = this.#context;
    const cycle = terminal.hasUtf8 ? frames.utf8 : frames.ascii;
    const elapsed = elapsedMs < elapsedAfterMs ? "" : formatElapsed(elapsedMs);
    const parts = [this.#phase, "…", this.#progress, elapsed].filter((part) => part !== "");
    const line = `${cycle[this.#frame % cycle.length] ?? ""} ${parts.join(" ")}`;
    terminal.redraw(truncate(line, terminal.columns - 1));
  }
}

/** `██████░░░░ 3/5 reading`, or without a bar where no total is known. */
export function formatProgress({ progress, total, message }: Progress): string {
  const text = message === undefined ? "" : ` ${boundedLine(message, 60)}`;
  if (total === undefined || !(total > 0)) return `${progress}${text}`;
  const filled = Math.round(Math.min(1, Math.max(0, progress / total)) * barWidth);
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${progress}/${total}${text}`;
}
