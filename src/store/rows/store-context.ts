import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { StoreDatabase } from "../tables/store-database.ts";
import type { AreaWrites } from "./area-writes.ts";

/** What every repository works with. */
export interface StoreContext {
  readonly database: StoreDatabase;
  readonly areas: AreaWrites;
  readonly clock: Clock;
  readonly logger: Logger;
}
