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
 * From now on the states of servers that live in the store are written beside their entries, for
 * whoever looks into the table: behind everything else and, however often a server changes its state,
 * once a moment. They are never read back: each host asks its own connections.
 */
export function keepServerStates({ store, registry, events }: KeepServerStatesOptions): void {
  const changed = new Set<string>();

  // The states as they are when they are written, not as they were when they changed.
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
      store.writeLater("the state of servers", ({ servers }) => servers.setStatuses(takeStates()));
  });
}
