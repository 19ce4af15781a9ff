import type { ConsentMode } from "../policy/decide-consent.ts";

/**
 * How often people are asked before tools of one server run, by agent, and since when their consent
 * counts. It belongs to one definition of the server: a changed entry is asked about anew.
 */
export class ConsentModes {
  /** The modes by agent; the host's own choice is under `undefined`. */
  readonly #modes = new Map<string | undefined, ConsentMode>();
  readonly #endings = new Map<string | undefined, number>();

  mode(agent: string): ConsentMode {
    return this.#modes.get(agent) ?? this.#modes.get(undefined) ?? "ask-per-server";
  }

  /** Without an agent it sets the mode of everybody who has none of their own: consent is never shared. */
  setMode(mode: ConsentMode, agent?: string): void {
    this.#modes.set(agent, mode);
  }

  /** Changes when consent given before no longer counts for this agent. */
  epoch(agent: string): number {
    return (this.#endings.get(undefined) ?? 0) + (this.#endings.get(agent) ?? 0);
  }

  /** Ends the consent of an agent, or of all: the server was disconnected, so its next use is asked about again. */
  end(agent?: string): void {
    this.#endings.set(agent, (this.#endings.get(agent) ?? 0) + 1);
    if (agent === undefined) this.#modes.clear();
    else this.#modes.delete(agent);
  }
}
