import type { HostEventOf, McpHost } from "../../src/index.ts";

/** The next time that a server gets into this state. */
export function entering(
  host: McpHost,
  wanted: HostEventOf<"server-state">["state"],
): Promise<void> {
  return new Promise((resolve) => {
    const stop = host.on("server-state", ({ state }) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}
