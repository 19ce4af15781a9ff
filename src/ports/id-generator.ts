import { randomBytes } from "node:crypto";

/**
 * Ids of calls and sessions: unique across hosts by a random part, within one by a counter. A UUID
 * for each call would cost a noticeable share of the call.
 */
export function createIdGenerator(): () => string {
  // A host that names nothing does without the random part, whose module takes Node 3 ms to load.
  let host: string | undefined;
  let last = 0;
  return () => {
    host ??= randomBytes(9).toString("base64url");
    last += 1;
    return `${host}-${last}`;
  };
}
