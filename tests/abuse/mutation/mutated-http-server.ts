import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { type CallScript, renderLine } from "../hostile/mutated-line.mjs";

export interface MutatedHttpServer extends AsyncDisposable {
  readonly url: string;
  /** Bodies with something in them that was changed on the way. */
  readonly bodies: number;
}

interface JsonRpcRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly script: number; readonly nonce: string } };
}

const honestResults: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "mutated", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "attack", inputSchema: { type: "object" } }] },
};

/** A streamable HTTP server of the 2025 era whose answers to calls are changed on the way. */
export async function startMutatedHttpServer(
  scripts: readonly CallScript[],
): Promise<MutatedHttpServer> {
  let bodies = 0;
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    readRequest(request)
      .then(({ id, method, params }) => {
        if (id === undefined) return void response.writeHead(202).end();
        const { script, nonce } = params?.arguments ?? {};
        if (method !== "tools/call") return sendJson(response, id, honestResults[method]);
        bodies += 1;
        const played = scripts[script ?? 0];
        if (played !== undefined) sendMutated(response, played, { id, text: nonce ?? "" });
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    get bodies() {
      return bodies;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<JsonRpcRequest> {
  return JSON.parse(await text(request)) as JsonRpcRequest;
}

function sendJson(response: ServerResponse, id: string | number, result: unknown): void {
  const answer =
    result === undefined
      ? { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } }
      : { jsonrpc: "2.0", id, result };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

/** One line is a JSON body, more are the events of a stream. */
function sendMutated(
  response: ServerResponse,
  { lines, isAnswered }: CallScript,
  { id, text }: { readonly id: string | number; readonly text: string },
): void {
  const rendered = lines.map((line) => renderLine(line, { id, otherId: Number(id) - 1, text }));
  const [only] = rendered;
  if (rendered.length === 1) {
    response.writeHead(200, { "content-type": "application/json" }).end(only);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const line of rendered)
    response.write(Buffer.concat([Buffer.from("data: "), line, Buffer.from("\n")]));
  const result = { content: [{ type: "text", text }] };
  if (isAnswered) response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  response.end();
}
