import { cancelledByCaller, untilAborted } from "../async/until-cancelled.ts";
import { isOfProject } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import type { ApprovalEvent } from "../events/host-event.ts";
import type { ApproveOptions, RequestApprovalOptions } from "../host/host.ts";
import type { HostParts } from "../host/plugboard-host.ts";
import type { ServerFleet } from "../host/server-fleet.ts";
import { askPerson } from "../human/ask-person.ts";
import type { ConfirmAnswer } from "../human/human.ts";
import type { LaunchQuestion } from "../human/launch-question.ts";
import { QuestionTurns } from "../human/question-turns.ts";

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
    const server = registry.toApprove(name);
    if (registry.isApproved(server)) return undefined;
    // Looked at now, it may be again what was approved before.
    registry.currentLaunch(server);
    if (registry.isApproved(server)) {
      await fleet.settle();
      return undefined;
    }
    const { askAboutLaunch } = await import("./describe-launch.ts");
    const earlier = await approvals.listFor(name);
    const { config } = registry.get(name);
    const replaced = config === server.config ? undefined : config;
    return await askAboutLaunch(server, { registry, hostEnv, earlier, replaced });
  }

  async approve(name: string, options: ApproveOptions): Promise<void> {
    const { fleet } = this.#parts;
    const launchId = await fleet.approvals.approve(fleet.registry.toApprove(name), options);
    await fleet.settle();
    this.#tell("launch-approved", name, launchId);
  }

  /** Asks a person, if there is one; whether the server may start now. */
  async request(name: string, options: RequestApprovalOptions): Promise<boolean> {
    const asked = this.#turns.take(name, () => this.#ask(name, options));
    return await untilAborted(asked, options.signal, name);
  }

  /** Takes back what was approved of the project's entry; another one of its name is in force again. */
  async revoke(name: string): Promise<void> {
    const { fleet } = this.#parts;
    const { approvals, registry } = fleet;
    const inForce = registry.get(name);
    const server = isOfProject(inForce.config.provenance) ? inForce : registry.toApprove(name);
    const { launchId } = registry.currentLaunch(server);
    try {
      await approvals.revoke(server);
    } finally {
      // Also when the store cannot be written: here it counts at once.
      this.#tell("launch-revoked", name, launchId);
      registry.endConsent(server);
      const closing = server.users.connections.map((connection) => connection.close());
      await fleet.settle();
      await Promise.all(closing);
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
