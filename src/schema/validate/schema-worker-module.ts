import type { ThreadModule } from "../../ports/thread-module.ts";

export const schemaWorkerModule: ThreadModule = {
  file: new URL("./schema-worker.ts", import.meta.url),
};
