import type { ServerInput } from "../../host/host.ts";

/** The bundled servers as `up` starts them where nothing is configured. */
export interface DemoServers {
  readonly entries: Readonly<Record<string, ServerInput>>;
  /** Ends the one that runs inside this process; the host ends the other. */
  close(): Promise<void>;
}

export async function startDemoServers(): Promise<DemoServers> {
  const { createTestServer, demoServerEntry, serveHttp } = await import("../../testing/index.ts");
  const http = await serveHttp(createTestServer());
  return {
    entries: {
      // We wrote the demo server, so its claims can be believed.
      demo: { ...demoServerEntry(), skipReadOnlyPrompts: true },
      "demo-http": { url: http.url, transport: "streamable-http" },
    },
    close: () => http.close(),
  };
}
