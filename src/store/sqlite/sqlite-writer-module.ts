import type { ThreadModule } from "../../ports/thread-module.ts";

export const sqliteWriterModule: ThreadModule = {
  file: new URL("./sqlite-writer-thread.mjs", import.meta.url),
};
