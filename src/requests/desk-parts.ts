import type { Limits } from "../config/limits.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { Human } from "../human/human.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Roots } from "./roots.ts";
import type { SamplingHandler } from "./sampling.ts";

/** What the desk of a host, and that of each of its servers, works with. */
export interface DeskParts {
  /** Answers what belongs to no session. */
  readonly human: Human | undefined;
  readonly sampling: SamplingHandler | undefined;
  readonly roots: Roots | undefined;
  /** What relative roots are relative to. */
  readonly cwd: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly events: EventBus;
  readonly logger: Logger;
  readonly createId: () => string;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
}
