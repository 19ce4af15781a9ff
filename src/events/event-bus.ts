import type { HostEvent, HostEventOf, HostEventType } from "./host-event.ts";

export type EmitEvent = (event: HostEvent) => void;
export type Unsubscribe = () => void;

type Handler = (event: HostEvent) => void;

/** An object of its own for each `on`: one function may be given several times, and leaves one at a time. */
interface Subscription {
  readonly handler: Handler;
}

/**
 * Delivers events to handlers in order of subscription. A handler that throws never changes what
 * happens to the others or to the operation that published the event.
 */
export class EventBus {
  readonly #topics = new Map<HostEventType, Topic>();
  /** Of those who want whatever happens. */
  readonly #everything = new Set<Subscription>();
  readonly #onHandlerError: (error: unknown) => void;

  constructor(onHandlerError: (error: unknown) => void = () => {}) {
    this.#onHandlerError = onHandlerError;
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    const subscriptions = type === "*" ? this.#everything : this.#topic(type).subscriptions;
    const subscription = { handler: handler as Handler };
    subscriptions.add(subscription);
    return () => subscriptions.delete(subscription);
  }

  readonly emit: EmitEvent = (event) => this.#topic(event.type).emit(event);

  /** For whoever publishes one type of event many times: it need not be looked up each time. */
  topic<T extends HostEventType>(type: T): EventTopic<HostEventOf<T>> {
    return this.#topic(type);
  }

  #topic(type: HostEventType): Topic {
    const known = this.#topics.get(type);
    if (known !== undefined) return known;
    const topic = new Topic(this.#everything, this.#onHandlerError);
    this.#topics.set(type, topic);
    return topic;
  }
}

/** The events of one type. */
export interface EventTopic<Event extends HostEvent = HostEvent> {
  /** Whether anyone would see an event: lets the hot path skip building it. */
  readonly isHeard: boolean;
  /** Whether someone asked for this very type, not just for whatever happens. */
  readonly isWanted: boolean;
  emit(event: Event): void;
}

class Topic implements EventTopic {
  readonly subscriptions = new Set<Subscription>();
  readonly #others: ReadonlySet<Subscription>;
  readonly #onHandlerError: (error: unknown) => void;

  constructor(others: ReadonlySet<Subscription>, onHandlerError: (error: unknown) => void) {
    this.#others = others;
    this.#onHandlerError = onHandlerError;
  }

  get isHeard(): boolean {
    return this.subscriptions.size > 0 || this.#others.size > 0;
  }

  get isWanted(): boolean {
    return this.subscriptions.size > 0;
  }

  emit(event: HostEvent): void {
    if (this.subscriptions.size > 0) this.#deliver(this.subscriptions, event);
    if (this.#others.size > 0) this.#deliver(this.#others, event);
  }

  #deliver(subscriptions: ReadonlySet<Subscription>, event: HostEvent): void {
    for (const { handler } of subscriptions) {
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
