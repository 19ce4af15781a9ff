import type { Session } from "./session.ts";

/** Which session an agent had last, without keeping any of them alive. */
export class SessionDirectory {
  readonly #latest = new Map<string, WeakRef<Session>>();
  readonly #ended = new FinalizationRegistry<string>((agent) => {
    if (this.#latest.get(agent)?.deref() === undefined) this.#latest.delete(agent);
  });

  add(session: Session): void {
    this.#latest.set(session.agent, new WeakRef(session));
    this.#ended.register(session, session.agent);
  }

  latest(agent: string): Session | undefined {
    return this.#latest.get(agent)?.deref();
  }
}
