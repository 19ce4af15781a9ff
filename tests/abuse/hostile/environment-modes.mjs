// @ts-check
import { readFileSync } from "node:fs";

/** The text of a file that may not be there, or not for us. @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What a server can find out about its host. @type {Record<string, import("./modes.mjs").Mode>} */
export const environmentModes = {
  /** Tells all it sees: of itself, and of the process that started it. */
  "env-dump": () => ({
    onCall({ id }, peer) {
      const structuredContent = {
        own: [
          JSON.stringify(process.env),
          textOf("/proc/self/environ"),
          textOf("/proc/self/cmdline"),
          process.cwd(),
        ],
        parent: textOf(`/proc/${process.ppid}/environ`),
      };
      peer.respond(id, { content: [], structuredContent });
    },
  }),
};
