import type { Figures, Form } from "./row.ts";
import type { Site } from "./site.ts";
import type { AttackedCall, CallEnd, Report, Subject } from "./subject.ts";

/** Over the time a call may take, this much more passes for slow; then it hangs. */
const hangGraceMs = 5_000;

const hungEnd: CallEnd = {
  ok: false,
  text: "",
  isCut: false,
  structured: undefined,
  code: "hung",
  message: "",
  errorData: undefined,
  details: {},
  tookMs: Number.POSITIVE_INFINITY,
};

export interface LabCall extends Omit<AttackedCall, "tool" | "timeoutMs"> {
  readonly tool?: string;
  readonly timeoutMs?: number;
  /** When the call must be over whatever the server does; its timeout by default. */
  readonly overAfterMs?: number;
}

/** Where an attack makes its calls: every one is watched until it has ended, and for what follows its end. */
export class Lab {
  readonly subject: Subject;
  readonly form: Form;
  readonly count: number;
  /** How calls ended: `ok`, or the code of the error. */
  readonly ends = new Map<string, number>();
  #hungCalls = 0;
  #strayCallbacks = 0;

  readonly #sites: ReadonlyMap<string, Site>;

  constructor(
    subject: Subject,
    form: Form,
    count: number,
    sites: ReadonlyMap<string, Site> = new Map(),
  ) {
    this.#sites = sites;
    this.subject = subject;
    this.form = form;
    this.count = count;
  }

  get figures(): Figures {
    const { doubleEnds, internalErrors } = this.subject.counts;
    return {
      "hung calls": this.#hungCalls,
      "stray callbacks": this.#strayCallbacks,
      "double ends": doubleEnds,
      "internal errors": internalErrors,
    };
  }

  /** Names of the HTTP servers. */
  get siteNames(): readonly string[] {
    return [...this.#sites.keys()];
  }

  /** The HTTP server of that name, from behind. */
  site(server: string): Site {
    const site = this.#sites.get(server);
    if (site === undefined) throw new Error(`${server} is no HTTP server`);
    return site;
  }

  async call(call: LabCall): Promise<CallEnd> {
    const { tool = "attack", timeoutMs = 4_000, overAfterMs = timeoutMs, onProgress } = call;
    let isOver = false;
    const watched = (report: Report): void => {
      if (isOver) this.#strayCallbacks += 1;
      else onProgress?.(report);
    };
    const calling = this.subject.call({
      ...call,
      tool,
      timeoutMs,
      ...(onProgress && { onProgress: watched }),
    });
    const end = await before(calling, overAfterMs + hangGraceMs);
    isOver = true;
    if (end === undefined) this.#hungCalls += 1;
    const { ok, code } = end ?? hungEnd;
    const name = ok ? "ok" : code;
    this.ends.set(name, (this.ends.get(name) ?? 0) + 1);
    return end ?? hungEnd;
  }

  /** Whether the server still does what it is asked, after everything it sent before was read. */
  async isAlive(server: string): Promise<boolean> {
    const message = `alive ${Math.random()}`;
    const { ok, text } = await this.call({ server, tool: "echo", args: { message } });
    return ok && text === message;
  }

  /** Resolves to the time until `isMet`, which is infinite when it is not within `limitMs`. */
  async msUntil(isMet: () => boolean, limitMs: number): Promise<number> {
    const startedAt = performance.now();
    while (!isMet()) {
      if (performance.now() - startedAt > limitMs) return Number.POSITIVE_INFINITY;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return performance.now() - startedAt;
  }
}

/** Undefined when the promise has not settled in time. */
async function before<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
