import { cancelledByCaller, untilCancelled } from "../async/until-aborted.ts";
import { isOfProject } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ApprovalEvent } from "../events/host-event.ts";
import { askPerson, QuestionTurns } from "../human/ask-person.ts";
import type { ConfirmAnswer, Human } from "../human/human.ts";
import type { LaunchQuestion } from "../human/launch-question.ts";
import type { Clock } from "../ports/clock.ts";
import type { ApproveOptions, Approvals } from "./approvals.ts";
import type { ApprovedLaunches, DescribedServer } from "./approved-launches.ts";

export interface RequestApprovalOptions {
  /** Who is asked; the host's human by default. */
  readonly human?: Human | undefined;
  /** The agent that the server is wanted for, to be shown. */
  readonly agent?: string | undefined;
  /** Who said yes, for the record: `person` by default. */
  readonly by?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The registry of servers, as far as approving their launches needs it. */
export interface ApprovableServers<Server extends DescribedServer> {
  /** The server of this name that is in force; throws for a name that is not configured. */
  get(name: string): Server;
  /** The entry of this name that a person is asked about: one that waits to replace the server, else the server. */
  toApprove(name: string): Server;
  /** Closes the connections of a server whose approval was revoked, and ends what was allowed of it. */
  stop(server: Server): Promise<void>;
}

export interface LaunchApprovalOptions<Server extends DescribedServer> {
  readonly launches: ApprovedLaunches;
  readonly approvals: Approvals;
  readonly servers: ApprovableServers<Server>;
  /** Makes the servers follow an approval that was given or revoked. */
  readonly settle: () => Promise<void>;
  /** Who is asked unless a request names somebody else. */
  readonly human: Human | undefined;
  /** How long a person may think; `0` means for ever. */
  readonly timeoutMs: number;
  /** The host's environment, which tells where `npx` keeps packages. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly events: EventBus;
  readonly clock: Clock;
  /** Aborted when the host closes: nobody waits for an answer then. */
  readonly closing: AbortSignal;
}

/** A yes is kept, and bound to what was shown: there is nothing narrower to allow. */
const answers: readonly ConfirmAnswer[] = ["no", "server-always"];

/** Asks a person whether a server of a project file may start, and carries out the answer. */
export class LaunchApproval<Server extends DescribedServer> {
  readonly #options: LaunchApprovalOptions<Server>;
  readonly #turns = new QuestionTurns();

  constructor(options: LaunchApprovalOptions<Server>) {
    this.#options = options;
  }

  /** What approving the server would start; undefined for one that needs no approval. */
  async question(name: string): Promise<LaunchQuestion | undefined> {
    const { launches, approvals, servers, hostEnv } = this.#options;
    const server = servers.toApprove(name);
    if (launches.isApproved(server)) return undefined;
    // Looked at now, it may be again what was approved before.
    launches.lookUp(server.config);
    if (launches.isApproved(server)) {
      await this.#options.settle();
      return undefined;
    }
    const { describeLaunch } = await import("./describe-launch.ts");
    const earlier = await approvals.listFor(name);
    const { config } = servers.get(name);
    const replaced = config === server.config ? undefined : config;
    const launch = launches.lookUp(server.config);
    return await describeLaunch(server.config, launch, { hostEnv, earlier, replaced });
  }

  async approve(name: string, options: ApproveOptions): Promise<void> {
    const { approvals, servers, settle } = this.#options;
    const launchId = await approvals.approve(servers.toApprove(name), options);
    await settle();
    this.#publish("launch-approved", name, launchId);
  }

  /** Asks a person, if there is one. Gives whether the server may start now. */
  async request(name: string, options: RequestApprovalOptions): Promise<boolean> {
    const asked = this.#turns.take(name, () => this.#ask(name, options));
    return await untilCancelled(asked, options.signal, name);
  }

  /** Revokes the approvals of the project's entry; another entry of its name is in force again. */
  async revoke(name: string): Promise<void> {
    const { launches, approvals, servers, settle } = this.#options;
    const inForce = servers.get(name);
    const server = isOfProject(inForce.config.provenance) ? inForce : servers.toApprove(name);
    const { launchId } = launches.lookUp(server.config);
    try {
      await approvals.revoke(server);
    } finally {
      // Also when the store cannot be written: here it counts at once.
      this.#publish("launch-revoked", name, launchId);
      const stopped = servers.stop(server);
      await settle();
      await stopped;
    }
  }

  async #ask(
    name: string,
    { human = this.#options.human, signal, agent, by = "person" }: RequestApprovalOptions,
  ): Promise<boolean> {
    const { clock, timeoutMs, closing } = this.#options;
    this.#assertWanted(name, signal);
    const launch = await this.question(name);
    if (launch === undefined) return true;
    if (human?.confirm === undefined) return false;
    const { launchId } = launch;
    this.#publish("launch-asked", name, launchId);
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
        timeoutMs,
        signals: signal === undefined ? [closing] : [closing, signal],
      },
    );
    this.#assertWanted(name, signal);
    if (answer === "server-always") {
      // Fails when what would start is no longer what was shown.
      await this.approve(name, { launchId, by });
      return true;
    }
    this.#publish("launch-denied", name, launchId);
    return false;
  }

  #assertWanted(name: string, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) throw cancelledByCaller(name);
    if (this.#options.closing.aborted) throw createError("closed", "the host has been closed");
  }

  #publish(type: ApprovalEvent["type"], serverName: string, launchId: string): void {
    const { events, clock } = this.#options;
    events.emit({ type, serverName, launchId, at: clock.now() });
  }
}
