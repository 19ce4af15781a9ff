/**
 * Ids of calls and sessions: unique across hosts by a random part, within one by a counter. A UUID
 * for each call would cost a noticeable share of the call.
 */
export function createIdGenerator(): () => string {
  const host = `${randomPart()}${randomPart()}`;
  let last = 0;
  return () => {
    last += 1;
    return `${host}-${last}`;
  };
}

/** Six letters and digits. An id is no secret, and what makes secrets takes Node 3 ms to load. */
function randomPart(): string {
  return Math.random().toString(36).slice(2, 8).padEnd(6, "0");
}
