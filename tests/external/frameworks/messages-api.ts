import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

export interface MessagesRequest {
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
}

export interface MessagesApi extends AsyncDisposable {
  readonly url: string;
  /** What the model was asked, in order. */
  readonly requests: readonly MessagesRequest[];
}

/** Anthropic's Messages API as a stream, with a model that answers one list of blocks after the other. */
export async function serveMessages(turns: readonly (readonly Block[])[]): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST" || !/^\/v1\/messages(?:\?|$)/.test(request.url ?? ""))
      return void response.writeHead(404).end();
    void json(request).then((body) => {
      const turn = turns[requests.length] ?? [];
      requests.push(body as MessagesRequest);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(streamOf(turn).join(""));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function streamOf(blocks: readonly Block[]): string[] {
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], usage };
  const stopReason = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return [
    event("message_start", { message: { ...message, model: "claude-test", stop_reason: null } }),
    ...blocks.flatMap((block, index) => {
      const { start, delta } = streamed(block);
      return [
        event("content_block_start", { index, content_block: start }),
        event("content_block_delta", { index, delta }),
        event("content_block_stop", { index }),
      ];
    }),
    event("message_delta", { delta: { stop_reason: stopReason }, usage }),
    event("message_stop", {}),
  ];
}

function streamed(block: Block): { readonly start: object; readonly delta: object } {
  if (block.type === "text")
    return {
      start: { type: "text", text: "" },
      delta: { type: "text_delta", text: block["text"] },
    };
  const partial = JSON.stringify(block["input"]);
  return {
    start: { ...block, input: {} },
    delta: { type: "input_json_delta", partial_json: partial },
  };
}
