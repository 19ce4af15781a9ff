/** Lets timers and input have their turn: promises alone can keep a process busy for ever. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
