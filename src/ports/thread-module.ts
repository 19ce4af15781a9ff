import type { Worker, WorkerOptions } from "node:worker_threads";

/**
 * What runs as a thread. The sources name a file. The build puts the code itself in its place (see
 * `scripts/bundle.mjs`), because a program that is bundled with the package has no such file.
 */
export type ThreadModule = { readonly file: URL } | { readonly code: string };

export function startThread(module: ThreadModule, options: WorkerOptions): Worker {
  // Not at the top: most hosts never need a thread and shall not wait for this part of Node.
  const threads = process.getBuiltinModule("node:worker_threads");
  return "code" in module
    ? new threads.Worker(module.code, { ...options, eval: true })
    : new threads.Worker(module.file, options);
}
