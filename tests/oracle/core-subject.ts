import { resolveLimits } from "../../src/config/keys/limits.ts";
import type { ErrorCode } from "../../src/errors/error-codes.ts";
import { McpError, type RpcError } from "../../src/errors/mcp-error.ts";
import { silentLogger } from "../../src/ports/logger.ts";
import { connectWithCore } from "../../src/protocol/client/core-client.ts";
import type { ProtocolClient } from "../../src/protocol/protocol-client.ts";
import type {
  InputHandler,
  InputHandlers,
  InputMethod,
} from "../../src/protocol/wire/input-handlers.ts";
import { modernVersion } from "../../src/protocol/wire/protocol-versions.ts";
import type { JsonObject } from "../../src/text/json-object.ts";
import type { Failure } from "./observation.ts";
import {
  clientInfo,
  type Connected,
  type ConnectContext,
  connectTimeoutMs,
  inputAnswers,
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
  async connect({ transcript, transport, clock, onNotification, onClose }: ConnectContext) {
    const client = await connectWithCore(transport, {
      serverName: "scripted",
      clientInfo,
      protocol: protocolOf(transcript),
      limits: resolveLimits(),
      connectTimeoutMs,
      strict: false,
      clock,
      logger: silentLogger,
      ...(transcript.offersInput === true && { inputHandlers }),
    });
    client.onnotification = onNotification;
    client.onclose = onClose;
    return new CoreConnected(client);
  },
  failureOf: coreFailure,
};

const inputHandlers: InputHandlers = {
  "elicitation/create": handlerOf("elicitation/create", { form: {} }),
  "sampling/createMessage": handlerOf("sampling/createMessage", {}),
  "roots/list": handlerOf("roots/list", {}),
};

function handlerOf(method: InputMethod, capability: JsonObject): InputHandler {
  return { capability, answer: () => Promise.resolve(inputAnswers[method]) };
}

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

const failureKinds: ReadonlyMap<ErrorCode, "timeout" | "cancelled" | "closed" | "invalid"> =
  new Map([
    ["timeout", "timeout"],
    ["start_timeout", "timeout"],
    ["cancelled", "cancelled"],
    ["closed", "closed"],
    ["connection_lost", "closed"],
    ["start_exit", "closed"],
    ["protocol_violation", "invalid"],
    ["invalid_result", "invalid"],
  ]);

/** An error of ours in the words both share; also one that our transport threw to the other client. */
export function coreFailure(error: unknown): Failure {
  if (!McpError.is(error)) throw error;
  const { code, details } = error;
  const rpc = details["rpc"] as RpcError | undefined;
  // The server's own error ends a handshake as a protocol violation.
  if (code === "protocol_violation" && rpc !== undefined) return { kind: "rpc", ...rpc };
  if (code === "rpc_error")
    return rpc === undefined ? { kind: "refused" } : { kind: "rpc", ...rpc };
  const kind = failureKinds.get(code);
  return kind === undefined ? { kind: "transport", code } : { kind };
}
