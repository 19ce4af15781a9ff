import type { EventBus } from "../events/event-bus.ts";
import type { ServerState } from "../events/host-event.ts";
import type { HostStore } from "../store/host-store.ts";
import type { ServerRegistry } from "./server-registry.ts";

export interface KeepServerStatesOptions {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly events: EventBus;
}

/**
 * Writes the states of servers that are defined in the store beside their entries, for people who look into the
 * table. It writes behind everything else and, however often a server changes its state, once a moment. The states
 * are never read back: each host asks its own connections, and what failed is kept by `LastAttempts`.
 */
export function keepServerStates({ store, registry, events }: KeepServerStatesOptions): void {
  const changed = new Set<string>();

  // Takes the states of the moment of writing, not those of the changes.
  const takeStates = (): ReadonlyMap<string, ServerState> => {
    const servers = [...changed].map((name) => registry.find(name));
    changed.clear();
    return new Map(
      servers
        .filter((server) => server !== undefined)
        .map((server) => [server.config.name, registry.state(server)] as const),
    );
  };

  events.on("server-state", ({ serverName }) => {
    if (registry.find(serverName)?.config.provenance.layer !== "store") return;
    const isWaiting = changed.size > 0;
    changed.add(serverName);
    if (!isWaiting)
      store.writeLater("the state of servers", () => {
        const states = takeStates();
        return ({ servers }) => servers.setStatuses(states);
      });
  });
}
