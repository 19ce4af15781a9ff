import type { EventBus } from "../events/event-bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";

export interface ConsentModeEventsOptions {
  readonly registry: Pick<ServerRegistry, "onConsentChange">;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** Publishes consent modes, which hold as long as the host lives: they are decisions as much as stored grants. */
export function publishConsentModes({ registry, events, clock }: ConsentModeEventsOptions): void {
  registry.onConsentChange(({ serverName, agent = null, mode }) => {
    const at = clock.now();
    if (mode === undefined) events.emit({ type: "consent-ended", agent, serverName, at });
    else events.emit({ type: "consent-mode-set", agent, serverName, mode, at });
  });
}
