import { resolveLimits } from "../../src/config/limits.ts";
import { McpError, type RpcError } from "../../src/errors/mcp-error.ts";
import { silentLogger } from "../../src/ports/logger.ts";
import { connectWithCore } from "../../src/protocol/core-client.ts";
import type { ProtocolClient } from "../../src/protocol/protocol-client.ts";
import { modernVersion } from "../../src/protocol/protocol-versions.ts";
import type { Failure } from "./observation.ts";
import {
  clientInfo,
  type Connected,
  type ConnectContext,
  connectTimeoutMs,
  pick,
  plainToolResult,
  type RequestOperation,
  type RunOptions,
  type Subject,
  toolMembers,
} from "./subject.ts";
import type { Transcript } from "./transcript.ts";

/** Our protocol core, as the host uses it. */
export const coreSubject: Subject = {
  async connect({ transcript, transport, time, onNotification, onClose }: ConnectContext) {
    const client = await connectWithCore(transport, {
      serverName: "scripted",
      clientInfo,
      protocol: protocolOf(transcript),
      limits: resolveLimits(),
      connectTimeoutMs,
      strict: false,
      clock: time.clock,
      logger: silentLogger,
    });
    client.onnotification = onNotification;
    client.onclose = onClose;
    return new CoreConnected(client);
  },
  failureOf: coreFailure,
};

function protocolOf({ era, negotiation }: Transcript): string {
  if (negotiation === "auto") return "auto";
  return era === "modern" ? modernVersion : "2025-11-25";
}

class CoreConnected implements Connected {
  readonly #client: ProtocolClient;

  constructor(client: ProtocolClient) {
    this.#client = client;
  }

  get server() {
    const { era, protocolVersion, serverInfo, capabilities, instructions } = this.#client;
    return { era, protocolVersion, serverInfo, capabilities, instructions };
  }

  async run(operation: RequestOperation, options: RunOptions): Promise<unknown> {
    switch (operation.do) {
      case "listTools": {
        const { tools, rejected, truncatedBy } = await this.#client.listTools(options);
        return {
          tools: tools.map((tool) => pick(tool, toolMembers)),
          ...(rejected.length > 0 && { rejected: rejected.map(({ name }) => name) }),
          ...(truncatedBy !== undefined && { truncatedBy }),
        };
      }
      case "callTool":
        return plainToolResult(
          await this.#client.callTool(operation.name, operation.args, options),
        );
      case "request":
        return await this.#client.request(operation.method, operation.params, options);
      case "ping":
        await this.#client.ping(options);
        return {};
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** An error of ours in the words both share; also one that our transport threw to the other client. */
export function coreFailure(error: unknown): Failure {
  if (!McpError.is(error)) throw error;
  const { code, details } = error;
  switch (code) {
    case "rpc_error": {
      const rpc = details["rpc"] as RpcError | undefined;
      return rpc === undefined ? { kind: "refused" } : { kind: "rpc", ...rpc };
    }
    case "timeout":
    case "start_timeout":
      return { kind: "timeout" };
    case "cancelled":
      return { kind: "cancelled" };
    case "closed":
    case "connection_lost":
    case "start_exit":
      return { kind: "closed" };
    case "protocol_violation":
    case "invalid_result":
      return { kind: "invalid" };
    default:
      return { kind: "transport", code };
  }
}
