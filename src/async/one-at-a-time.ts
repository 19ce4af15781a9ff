/**
 * Runs `task` whenever it is called, never twice at once; calls during a run lead to one more run
 * after it. `task` must not reject.
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
