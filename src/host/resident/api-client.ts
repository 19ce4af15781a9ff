import { type ErrorCode, errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { SocketAddress, SocketClient, SocketRequest } from "../../listener/socket-client.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** How long a host that runs may take for its first word; one that was stopped (Ctrl-Z) never says it. */
const patienceMs = 1_000;

/** Speaks to the API of a host that runs in another process; what that process throws is thrown here. */
export class ApiClient {
  readonly #client: Promise<SocketClient>;

  constructor(address: SocketAddress) {
    this.#client = connectTo(address);
  }

  /** Finds out whether the host answers at all; rejects with `unreachable` when it does not do so soon. */
  async greet(): Promise<JsonObject> {
    return await this.soon((signal) => this.get("/api/ground", signal));
  }

  /** Runs a request whose answer has to begin soon. Rejects with `unreachable` otherwise. */
  async soon<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), patienceMs);
    try {
      return await request(late.signal);
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw createError("unreachable", "the host that runs here does not answer", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async get(path: string, signal?: AbortSignal): Promise<JsonObject> {
    return await this.#send({ method: "GET", path, signal });
  }

  async post(path: string, body: object = {}, signal?: AbortSignal): Promise<JsonObject> {
    return await this.#send({ method: "POST", path, body, signal });
  }

  async delete(path: string): Promise<JsonObject> {
    return await this.#send({ method: "DELETE", path });
  }

  /** The lines of an answer, as they come. Leaving the loop lets go of the request. */
  async *lines(
    path: string,
    body: object = {},
    signal?: AbortSignal,
  ): AsyncGenerator<JsonObject, void> {
    const stream = await (await this.#client).stream({ method: "POST", path, body, signal });
    try {
      for await (const line of stream.lines) {
        const object = isJsonObject(line) ? line : {};
        const { error } = object;
        if (error !== undefined) throw reviveError(error);
        if (stream.status >= 400) throw refusal(stream.status, object);
        yield object;
      }
    } finally {
      stream.close();
    }
  }

  close(): void {
    void this.#client.then((client) => client.close());
  }

  async #send(request: SocketRequest): Promise<JsonObject> {
    const { status, body } = await (await this.#client).send(request);
    const object = isJsonObject(body) ? body : {};
    if (object["error"] !== undefined) throw reviveError(object["error"]);
    if (status >= 400) throw refusal(status, object);
    return object;
  }
}

/** HTTP is loaded when somebody has left an address. */
async function connectTo(address: SocketAddress): Promise<SocketClient> {
  const { SocketClient } = await import("../../listener/socket-client.ts");
  return new SocketClient(address);
}

function refusal(status: number, { refused }: JsonObject): McpError {
  const reason = typeof refused === "string" ? refused : `it answered with ${status}`;
  return createError("not_connected", `the host that runs here cannot be used: ${reason}`, {
    details: { status },
  });
}

/** An error of another process as one of this process, without its cause. */
export function reviveError(value: unknown): McpError {
  const { code, message, serverName, details, hint, retryable } = isJsonObject(value) ? value : {};
  const isKnown = typeof code === "string" && Object.hasOwn(errorTable, code);
  return createError(
    isKnown ? (code as ErrorCode) : "protocol_violation",
    typeof message === "string" ? message : "the host that runs here failed",
    {
      serverName: typeof serverName === "string" ? serverName : undefined,
      details: isJsonObject(details) ? details : undefined,
      hint: typeof hint === "string" ? hint : undefined,
      retryable: typeof retryable === "boolean" ? retryable : undefined,
    },
  );
}
