import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { ConsentId } from "../config/server-ids.ts";
import type { PinVerdict } from "../policy/decide-access.ts";

/** What is known of each tool's first definition, as the judge of a session looks it up. */
export interface PinLookup {
  /** Grows with every change. */
  readonly revision: number;
  verdict(consentId: ConsentId, tool: CatalogTool): PinVerdict;
  /** A tool is being called: what it was when it was first seen must not be forgotten any more. */
  noteUse(): void;
}
