import { longestTimerMs } from "./clock.ts";

/**
 * A process with nothing left to do ends, whatever it awaits. Timers of the clock, pipes of servers and open
 * connections count for nothing there, so that a host nobody waits for never holds up the end of a program. What a
 * caller waits for is therefore counted here, and while the count is above zero one timer holds the process.
 */
let waits = 0;
let holder: NodeJS.Timeout | undefined;

/** Counts one wait more; each needs its own `releaseProcess`. Costs no allocation: every call comes by here. */
export function holdProcess(): void {
  waits += 1;
  if (waits > 1) return;
  if (holder === undefined) holder = setInterval(() => {}, longestTimerMs);
  else holder.ref();
}

/** Ends a wait that `holdProcess` began. */
export function releaseProcess(): void {
  waits -= 1;
  if (waits === 0) holder?.unref();
}

/** Settles as `promise` does; the process lives until then. An `async` function would cost a call twice as much. */
export function keepAliveUntil<T>(promise: Promise<T>): Promise<T> {
  holdProcess();
  return promise.then(releaseWith, releaseAndThrow);
}

function releaseWith<T>(value: T): T {
  releaseProcess();
  return value;
}

function releaseAndThrow(error: unknown): never {
  releaseProcess();
  throw error;
}

/** The methods of `T` that return a promise. */
export type AwaitedMethod<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof T] &
  string;

/**
 * Makes methods of a class keep the process alive until what they return has settled. `methods` names every one that
 * a program may await, so that one added to the interface `T` does not compile before it is named here.
 */
export function keepAliveWhileAwaited<T>(
  prototype: T & object,
  methods: Readonly<Record<AwaitedMethod<T>, true>>,
): void {
  for (const name of Object.keys(methods) as AwaitedMethod<T>[]) {
    const method = prototype[name] as (...args: unknown[]) => Promise<unknown>;
    const value = function (this: T, ...args: unknown[]): Promise<unknown> {
      return keepAliveUntil(Reflect.apply(method, this, args));
    };
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}
