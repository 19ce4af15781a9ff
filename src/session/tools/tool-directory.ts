import type { NamedCatalog, ToolCatalog } from "../../catalog/tool-catalog.ts";
import type { Naming } from "../../catalog/tool-names.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ResourceReaders } from "../content/resource-reader.ts";
import type { NativeTools } from "../native/native-tools.ts";

export interface ToolDirectoryParts {
  readonly catalog: ToolCatalog;
  readonly naming: Naming;
  readonly natives: NativeTools;
  /** Absent: the session reads resources by itself, not through tools. */
  readonly readers: ResourceReaders | undefined;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** The public names of servers' tools in one session; they never take the name of a native tool. */
export class ToolDirectory {
  readonly #parts: ToolDirectoryParts;
  #named: NamedCatalog | undefined;
  /** The catalog that the names were made for: another catalog or another native tool needs other names. */
  #catalog: NamedCatalog | undefined;
  #nativeCount = 0;

  constructor(parts: ToolDirectoryParts) {
    this.#parts = parts;
  }

  named(): NamedCatalog {
    const named = this.#current();
    // Almost always there are none: this is on the path of every call.
    if (named.problems.length > 0) this.#tellNews(named);
    return named;
  }

  #current(): NamedCatalog {
    const { catalog, naming, natives, readers } = this.#parts;
    const shared = catalog.named(naming);
    if (readers === undefined && natives.size === 0) return shared;
    if (
      this.#named === undefined ||
      this.#catalog !== shared ||
      this.#nativeCount !== natives.size
    ) {
      this.#catalog = shared;
      this.#nativeCount = natives.size;
      const added = readers?.tools() ?? [];
      this.#named = catalog.namedBeside(naming, { added, reserved: natives.names() });
    }
    return this.#named;
  }

  /** Publishes problems with names as warnings. Sessions give the names, so nothing below can report them. */
  #tellNews(named: NamedCatalog): void {
    const { catalog, events, clock } = this.#parts;
    for (const { serverName, text } of catalog.takeNameNews(named))
      events.emit({
        type: "warning",
        ...(serverName === undefined ? {} : { serverName }),
        text,
        at: clock.now(),
      });
  }
}
