import { cancelledByCaller, untilAborted } from "../connection/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { ApprovalEvent } from "../events/host-event.ts";
import type { ConfirmAnswer } from "../ports/human.ts";
import type { LaunchQuestion } from "../ports/launch-question.ts";
import { askPerson } from "../session/ask-person.ts";
import { QuestionTurns } from "../session/question-turns.ts";
import type { ApproveOptions, RequestApprovalOptions } from "./host.ts";
import type { HostParts } from "./plugboard-host.ts";
import type { ServerFleet } from "./server-fleet.ts";

export interface LaunchDeskParts extends Pick<
  HostParts,
  "hostEnv" | "human" | "events" | "clock" | "limits"
> {
  readonly fleet: ServerFleet;
  /** Aborted when the host closes: nobody waits for an answer then. */
  readonly closing: AbortSignal;
}

/** A yes is kept, and bound to what was shown: there is nothing narrower to allow. */
const answers: readonly ConfirmAnswer[] = ["no", "server-always"];

/** Which servers of project files may start: what a person has to see, their answer, and its end. */
export class LaunchDesk {
  readonly #parts: LaunchDeskParts;
  readonly #turns = new QuestionTurns();

  constructor(parts: LaunchDeskParts) {
    this.#parts = parts;
  }

  /** What approving the server would start; undefined for one that needs no approval. */
  async question(name: string): Promise<LaunchQuestion | undefined> {
    const { fleet, hostEnv } = this.#parts;
    const { approvals, registry } = fleet;
    const server = registry.get(name);
    if (registry.isApproved(server)) return undefined;
    // Looked at now, it may be again what was approved before.
    registry.currentLaunch(server);
    if (registry.isApproved(server)) return undefined;
    const { askAboutLaunch } = await import("./ask-about-launch.ts");
    const earlier = await approvals.listFor(name);
    return await askAboutLaunch(server, { registry, hostEnv, earlier });
  }

  async approve(name: string, options: ApproveOptions): Promise<void> {
    const { approvals, registry } = this.#parts.fleet;
    this.#tell("launch-approved", name, await approvals.approve(registry.get(name), options));
  }

  /** Asks a person, if there is one; whether the server may start now. */
  async request(name: string, options: RequestApprovalOptions): Promise<boolean> {
    const asked = this.#turns.take(name, () => this.#ask(name, options));
    return await untilAborted(asked, options.signal, name);
  }

  async revoke(name: string): Promise<void> {
    const { approvals, registry } = this.#parts.fleet;
    const server = registry.get(name);
    const { launchId } = registry.currentLaunch(server);
    try {
      await approvals.revoke(server);
    } finally {
      // Also when the store cannot be written: here it counts at once.
      this.#tell("launch-revoked", name, launchId);
    }
  }

  async #ask(
    name: string,
    { human = this.#parts.human, signal, agent, by = "person" }: RequestApprovalOptions,
  ): Promise<boolean> {
    const { clock, limits, closing } = this.#parts;
    this.#assertWanted(name, signal);
    const launch = await this.question(name);
    if (launch === undefined) return true;
    if (human?.confirm === undefined) return false;
    const { launchId } = launch;
    this.#tell("launch-asked", name, launchId);
    const answer = await askPerson(
      {
        kind: "launch",
        serverName: name,
        launch,
        answers,
        ...(agent === undefined ? {} : { agent }),
      },
      {
        human,
        clock,
        timeoutMs: limits.totalCallTimeoutMs,
        signals: signal === undefined ? [closing] : [closing, signal],
      },
    );
    this.#assertWanted(name, signal);
    if (answer === "server-always") {
      // Fails when what would start is no longer what was shown.
      await this.approve(name, { launchId, by });
      return true;
    }
    this.#tell("launch-denied", name, launchId);
    return false;
  }

  #assertWanted(name: string, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) throw cancelledByCaller(name);
    if (this.#parts.closing.aborted) throw createError("closed", "the host has been closed");
  }

  #tell(type: ApprovalEvent["type"], serverName: string, launchId: string): void {
    const { events, clock } = this.#parts;
    events.emit({ type, serverName, launchId, at: clock.now() });
  }
}
