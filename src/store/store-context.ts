import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { AreaWrites } from "./area-writes.ts";
import type { StoreDatabase } from "./store-database.ts";

/** What every repository works with. */
export interface StoreContext {
  readonly database: StoreDatabase;
  readonly areas: AreaWrites;
  readonly clock: Clock;
  readonly logger: Logger;
}
