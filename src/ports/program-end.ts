type Close = () => Promise<void>;

const open = new Set<Close>();

/**
 * Calls `close` when the program has nothing left to do and did not close by itself: what is to be saved is saved
 * then, and servers are asked to end before they are killed. Returns what takes this back. A program that ends in
 * another way (`process.exit`, an uncaught error, a signal) runs nothing asynchronous any more.
 */
export function closeAtProgramEnd(close: Close): () => void {
  // Once for all: every listener of its own would count against the limit of the process.
  if (open.size === 0) process.on("beforeExit", closeAll);
  open.add(close);
  return () => {
    if (open.delete(close) && open.size === 0) process.off("beforeExit", closeAll);
  };
}

function closeAll(): void {
  const closing = [...open];
  // At once: when all of that is done the process has nothing left to do again, and must not come back here.
  open.clear();
  process.off("beforeExit", closeAll);
  // Nobody is left who could be told of a failure, and what still runs is killed with the process.
  for (const close of closing) close().catch(() => undefined);
}
