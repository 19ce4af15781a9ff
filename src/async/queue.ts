const ignore = (): void => {};

/** Makes a function that runs tasks one after the other, in the order in which it gets them, however each ends. */
export function createQueue(): <T>(task: () => T | Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.then(ignore, ignore);
    return turn;
  };
}

/**
 * Makes a function that runs `task` whenever it is called, never twice at once; calls during a run lead to one more
 * run after it. `task` must not reject.
 */
export function oneAtATime(task: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    void (async () => {
      while (isWanted) {
        isWanted = false;
        await task();
      }
      isRunning = false;
    })();
  };
}
