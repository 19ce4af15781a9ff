import { writeFileSync } from "node:fs";

/**
 * Keeps the memory of this process out of core dumps, and that of what it starts: tokens are in clear text there. Node
 * cannot set the limit of their size, but Linux asks each process which parts of its memory belong into one.
 */
export function leaveMemoryOutOfCoreDumps(): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
  } catch {
    // A system without the file writes what it is set to write; nothing that was asked for depends on it.
  }
}
