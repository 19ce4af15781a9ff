import { randomBytes } from "node:crypto";

/**
 * Ids of calls and sessions: unique across hosts by a random part, within one by a counter. A UUID
 * for each call would cost a noticeable share of the call.
 */
export function createIdGenerator(): () => string {
  const host = randomBytes(9).toString("base64url");
  let last = 0;
  return () => {
    last += 1;
    return `${host}-${last}`;
  };
}
