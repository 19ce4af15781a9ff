import type { CatalogNames, NamedCatalog } from "../../catalog/catalog-names.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
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
  /** Names of this session's own, where a native tool has one that a tool of a server could have. */
  #own: CatalogNames | undefined;
  /** The shared names that the native tools were last compared with, and the names of those. */
  #compared: NamedCatalog | undefined;
  #reserved: ReadonlySet<string> = new Set();
  #isShared = true;

  constructor(parts: ToolDirectoryParts) {
    this.#parts = parts;
    parts.catalog.expectNames(parts.naming, parts.readers);
  }

  named(): NamedCatalog {
    const named = this.namedInAdvance();
    // Almost always there are none: this is on the path of every call.
    if (named.problems.length > 0) this.#tellNews(named);
    return named;
  }

  /** The same names for work in advance: problems are published when somebody asks for the names. */
  namedInAdvance(): NamedCatalog {
    const { catalog, naming, natives, readers } = this.#parts;
    const shared = catalog.named(naming, readers);
    if (natives.size === 0) return shared;
    if (this.#compared !== shared || this.#reserved.size !== natives.size) {
      this.#compared = shared;
      this.#reserved = new Set(natives.names());
      this.#isShared = [...this.#reserved].every((name) => shared.isFree(name));
    }
    if (this.#isShared) return shared;
    this.#own ??= catalog.createNames(naming);
    return catalog.namedBeside(this.#own, { extras: readers, reserved: this.#reserved });
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
