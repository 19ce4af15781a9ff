import type { HostEvent, HostEventOf, HostEventType } from "./host-event.ts";

export type EmitEvent = (event: HostEvent) => void;
export type Unsubscribe = () => void;

type Handler = (event: HostEvent) => void;

/**
 * Delivers events to handlers in order of subscription. A handler that throws never changes what
 * happens to the others or to the operation that published the event.
 */
export class EventBus {
  readonly #handlers = new Map<HostEventType | "*", Set<Handler>>();
  readonly #onHandlerError: (error: unknown) => void;

  constructor(onHandlerError: (error: unknown) => void = () => {}) {
    this.#onHandlerError = onHandlerError;
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    handlers.add(handler as Handler);
    return () => handlers.delete(handler as Handler);
  }

  /** Whether anyone would see an event of this type: lets the hot path skip building it. */
  has(type: HostEventType): boolean {
    return this.isWanted(type) || (this.#handlers.get("*")?.size ?? 0) > 0;
  }

  /** Whether someone asked for this very type, not just for whatever happens. */
  isWanted(type: HostEventType): boolean {
    return (this.#handlers.get(type)?.size ?? 0) > 0;
  }

  readonly emit: EmitEvent = (event) => {
    this.#deliver(this.#handlers.get(event.type), event);
    this.#deliver(this.#handlers.get("*"), event);
  };

  #deliver(handlers: Set<Handler> | undefined, event: HostEvent): void {
    if (handlers === undefined) return;
    for (const handler of handlers) {
      try {
        // An async handler's rejection must not become an unhandled one.
        const returned: unknown = handler(event);
        if (returned instanceof Promise) returned.catch(this.#onHandlerError);
      } catch (error) {
        this.#onHandlerError(error);
      }
    }
  }
}
