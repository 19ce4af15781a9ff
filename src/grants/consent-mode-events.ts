import type { EventBus } from "../events/event-bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";

export interface TellConsentChangesOptions {
  readonly registry: ServerRegistry;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** What holds as long as the host lives is a decision as much as what is kept, and told like it. */
export function tellConsentChanges({ registry, events, clock }: TellConsentChangesOptions): void {
  registry.onConsentChange(({ serverName, agent = null, mode }) => {
    const at = clock.now();
    if (mode === undefined) events.emit({ type: "consent-ended", agent, serverName, at });
    else events.emit({ type: "consent-mode-set", agent, serverName, mode, at });
  });
}
