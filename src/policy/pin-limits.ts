/**
 * As many tools of one server are accepted without a person, over all its lists: as many as one list may
 * have. A server that names new ones again and again fills no store; what it names then waits for a person.
 */
export const maxPinsPerServer = 5_000;
