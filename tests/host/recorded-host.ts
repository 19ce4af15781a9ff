import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  type RecordedCall,
} from "../../src/testing/index.ts";

export interface RecordedHost extends AsyncDisposable {
  readonly host: McpHost;
  /** Calls that reached the server, in order. */
  readonly calls: readonly RecordedCall[];
}

export interface RecordedHostOptions {
  readonly tools: readonly unknown[];
  readonly answers?: (call: RecordedCall) => unknown;
  readonly host?: HostOptions;
}

/** A host with one in-memory server called `fake` that lists and answers what the test says. */
export async function recordedHost(options: RecordedHostOptions): Promise<RecordedHost> {
  const calls: RecordedCall[] = [];
  const factory = createRecordedServer({
    tools: options.tools,
    answers(call) {
      calls.push(call);
      return (
        options.answers?.(call) ?? {
          content: [{ type: "text", text: JSON.stringify(call.arguments) }],
        }
      );
    },
  });
  const host = await createHost({
    config: false,
    servers: { fake: () => createMemoryServer(factory).transport },
    ...options.host,
  });
  return { host, calls, [Symbol.asyncDispose]: () => host.close() };
}

/** A tool that takes any object. */
export const anyTool = {
  name: "any",
  description: "Takes anything",
  inputSchema: { type: "object" },
};
