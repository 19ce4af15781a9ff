import type { NamedCatalog, ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { NativeTools } from "./native-tools.ts";
import type { ResourceReaders } from "./resource-reader.ts";

export interface ToolDirectoryParts {
  readonly catalog: ToolCatalog;
  readonly naming: Naming;
  readonly natives: NativeTools;
  /** Absent: the session reads resources by itself, not through tools. */
  readonly readers: ResourceReaders | undefined;
}

/** The public names of servers' tools in one session; they never take the name of a native tool. */
export class ToolDirectory {
  readonly #parts: ToolDirectoryParts;
  #named: NamedCatalog | undefined;
  /** What the names were made for: another catalog or another native tool needs others. */
  #catalog: NamedCatalog | undefined;
  #nativeCount = 0;

  constructor(parts: ToolDirectoryParts) {
    this.#parts = parts;
  }

  named(): NamedCatalog {
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
}
