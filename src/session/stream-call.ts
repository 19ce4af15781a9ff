import type { CallOptions } from "../call/call-path.ts";
import type { Outcome } from "../call/outcome.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { Progress } from "../protocol/protocol-client.ts";

/** What happens during a call, in order; the outcome is always the last. */
export type CallStreamItem =
  | ({ readonly type: "progress" } & Progress)
  /** What the server of the tool logged meanwhile, about this call or not: the protocol does not tell. */
  | { readonly type: "log"; readonly level: string; readonly text: string }
  | { readonly type: "outcome"; readonly outcome: Outcome };

/** A reader this far behind loses the oldest of what is only information. */
const maxWaiting = 1_000;

export interface StreamedCall {
  readonly serverName: () => string | undefined;
  readonly events: EventBus;
  readonly call: (options: CallOptions) => Promise<Outcome>;
  readonly options: CallOptions;
}

/** Runs a call and tells what happens to it. A reader that stops early cancels the call. */
export async function* streamCall(streamed: StreamedCall): AsyncGenerator<CallStreamItem, void> {
  const { events, options, serverName } = streamed;
  const stop = new AbortController();
  const waiting: CallStreamItem[] = [];
  let wake: (() => void) | undefined;
  const put = (item: CallStreamItem): void => {
    if (waiting.length >= maxWaiting) waiting.shift();
    waiting.push(item);
    wake?.();
  };
  const unsubscribe = events.on("server-log", ({ serverName: from, level, text }) => {
    if (from === serverName()) put({ type: "log", level, text });
  });
  const signals = [stop.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const ending = streamed.call({
    ...options,
    signal: AbortSignal.any(signals),
    onProgress(progress) {
      put({ type: "progress", ...progress });
      options.onProgress?.(progress);
    },
  });
  void ending.then((outcome) => put({ type: "outcome", outcome }));
  try {
    for (;;) {
      const item = waiting.shift();
      if (item !== undefined) {
        yield item;
        if (item.type === "outcome") return;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    unsubscribe();
    stop.abort();
    await ending;
  }
}
