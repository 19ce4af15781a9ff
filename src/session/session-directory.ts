import type { Session } from "./session.ts";

interface Entry {
  readonly agent: string;
  readonly session: WeakRef<Session>;
}

/** Knows the sessions of each agent, children included, without keeping any of them alive. */
export class SessionDirectory {
  readonly #byAgent = new Map<string, Set<Entry>>();
  readonly #ended = new FinalizationRegistry<Entry>((entry) => {
    const entries = this.#byAgent.get(entry.agent);
    entries?.delete(entry);
    if (entries?.size === 0) this.#byAgent.delete(entry.agent);
  });

  add(session: Session): void {
    const { agent } = session;
    const entry: Entry = { agent, session: new WeakRef(session) };
    const entries = this.#byAgent.get(agent) ?? new Set();
    this.#byAgent.set(agent, entries.add(entry));
    this.#ended.register(session, entry);
  }

  /** A part of the agent's own work, under its own name, says nothing about what the agent may do. */
  addChild(child: Session, parent: Session): void {
    if (child.agent !== parent.agent) this.add(child);
  }

  /** The latest session of each agent that has one. */
  all(): readonly Session[] {
    return [...this.#byAgent.keys()].flatMap((agent) => this.latest(agent) ?? []);
  }

  /** The one made last of those that are still in use: an older one counts again after it. */
  latest(agent: string): Session | undefined {
    const sessions = [...(this.#byAgent.get(agent) ?? [])].map(({ session }) => session.deref());
    return sessions.findLast((session) => session !== undefined);
  }
}
