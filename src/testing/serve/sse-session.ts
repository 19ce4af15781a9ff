import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

type Settle = (response: Response) => void;

const accepted = (): Response => new Response("Accepted", { status: 202 });

/** One client of an HTTP+SSE server: its stream, and the messages it POSTs. */
export class SseSession implements Transport {
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  onmessage?: Transport["onmessage"];

  readonly #encoder = new TextEncoder();
  readonly #answersInBody: boolean;
  /** POSTed requests whose bodies wait for their answers. */
  readonly #waiting = new Map<unknown, Settle>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(answersInBody: boolean) {
    this.#answersInBody = answersInBody;
  }

  async start(): Promise<void> {}

  /** The stream; begins with the address for messages when there is one to announce. */
  open(endpoint: string | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        if (endpoint !== undefined) this.#write(`event: endpoint\ndata: ${endpoint}\n\n`);
        // Headers alone may stay in a buffer until there is a body.
        else this.#write(": open\n\n");
      },
      cancel: () => this.close(),
    });
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
    });
  }

  async receive(request: Request): Promise<Response> {
    let message: JSONRPCMessage;
    try {
      message = (await request.json()) as JSONRPCMessage;
    } catch {
      return new Response("The message is no JSON.\n", { status: 400 });
    }
    const id = "method" in message && "id" in message ? message.id : undefined;
    const response =
      this.#answersInBody && id !== undefined
        ? new Promise<Response>((resolve) => this.#waiting.set(id, resolve))
        : accepted();
    this.onmessage?.(message);
    return await response;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = "method" in message ? undefined : message.id;
    const settle = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (settle === undefined) this.#write(`data: ${JSON.stringify(message)}\n\n`);
    else settle(Response.json(message));
  }

  async close(): Promise<void> {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    for (const settle of this.#waiting.values()) settle(new Response(null, { status: 503 }));
    try {
      controller.close();
    } catch {
      // The client went first.
    }
    this.onclose?.();
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }
}
