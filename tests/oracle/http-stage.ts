import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { createStreamableHttpTransport } from "../../src/transport/dialects/streamable-http-transport.ts";
import { ScriptPlayer } from "./peer/script-player.mjs";
import { Stage, transportParts } from "./stage.ts";
import type { WireMessage } from "./tapped-transport.ts";
import type { Label, Transcript } from "./transcript.ts";

/** `json`: an answer that comes alone is a JSON body; `events`: every answer is on an event stream. */
export type AnswerForm = "json" | "events";

/** The response to one request. */
interface Answer {
  readonly id: WireMessage["id"];
  readonly response: ServerResponse;
  /** What the script has said and has not been written yet. */
  lines: string[];
  isAnswered: boolean;
  isOver: boolean;
  writtenCount: number;
  seenCount: number;
}

/** A server over real HTTP in this process. What belongs to no open response is not said at all. */
class HttpStage extends Stage {
  readonly #server: Server;
  readonly #form: AnswerForm;
  readonly #player: ScriptPlayer;
  readonly #answers = new Map<Label, Answer>();
  #receivedCount = 0;

  constructor(server: Server, transcript: Transcript, form: AnswerForm) {
    const { port } = server.address() as AddressInfo;
    super(
      createStreamableHttpTransport({
        ...transportParts,
        url: `http://127.0.0.1:${port}/mcp`,
        headers: {},
        method: "POST",
      }),
    );
    this.#server = server;
    this.#form = form;
    this.#player = new ScriptPlayer(transcript.reactions, {
      send: (line, by) => this.#say(line, by),
      end: (by) => this.#over(by),
      refuse: (status, by) => this.#refuse(status, by),
    });
    this.transport.onmarker = ({ label, count }) => {
      const answer = this.#answers.get(label as Label);
      if (answer !== undefined) answer.seenCount = count as number;
    };
    server.on("request", (request, response) => {
      this.#receive(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  protected override isIdle(): boolean {
    const { sent, isClosed } = this.transport;
    if (isClosed) return true;
    const answers = [...this.#answers.values()];
    const openCount = answers.filter(({ isOver, isAnswered }) => !isOver && !isAnswered).length;
    const withdrawn = new Set(sent.filter((one) => one.isWithdrawn).map((one) => one.message.id));
    return (
      this.#receivedCount === sent.length &&
      openCount === sent.filter(({ isSettled }) => !isSettled).length &&
      answers.every(
        ({ id, writtenCount, seenCount }) => writtenCount === seenCount || withdrawn.has(id),
      )
    );
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString("utf8")) as WireMessage;
    const label = this.#player.arrive(message);
    if (message.method === undefined || message.id === undefined) response.writeHead(202).end();
    else this.#open(label, message.id, response);
    this.#player.react(label);
    for (const [open, answer] of this.#answers) this.#flush(open, answer);
    this.#receivedCount += 1;
    this.changed();
  }

  #open(label: Label, id: WireMessage["id"], response: ServerResponse): void {
    const answer: Answer = {
      id,
      response,
      lines: [],
      isAnswered: false,
      isOver: false,
      writtenCount: 0,
      seenCount: 0,
    };
    response.on("close", () => {
      answer.isOver = true;
      this.changed();
    });
    this.#answers.set(label, answer);
  }

  #say(line: string, by: Label): void {
    const answered = [...this.#answers.values()].find(
      (answer) => !answer.isOver && isAnswerTo(parse(line), answer.id),
    );
    if (answered !== undefined) answered.isAnswered = true;
    const answer = answered ?? this.#answers.get(by);
    if (answer?.isOver === false) answer.lines.push(line);
  }

  #over(by: Label): void {
    const answer = this.#answers.get(by);
    if (answer === undefined) return;
    this.#writeEvents(by, answer);
    this.#finish(answer);
  }

  #refuse(status: number, by: Label): void {
    const answer = this.#answers.get(by);
    if (answer === undefined || answer.isOver) return;
    answer.response.writeHead(status);
    this.#finish(answer);
  }

  #flush(label: Label, answer: Answer): void {
    const [only, ...more] = answer.lines;
    if (answer.isOver || only === undefined) return;
    const isLast = !this.#player.isWaiting(label);
    const isAlone = isLast && more.length === 0 && !answer.response.headersSent;
    if (this.#form === "json" && isAlone && !isAsking(parse(only))) {
      answer.response.writeHead(200, { "content-type": "application/json" });
      answer.response.write(only);
      this.#finish(answer);
      return;
    }
    this.#writeEvents(label, answer);
    if (answer.isAnswered && isLast) this.#finish(answer);
  }

  #writeEvents(label: Label, answer: Answer): void {
    const { response } = answer;
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    answer.writtenCount += 1;
    const marker = JSON.stringify({ oracle: { label, count: answer.writtenCount } });
    for (const line of [...answer.lines, marker]) response.write(`data: ${line}\n\n`);
    answer.lines = [];
  }

  #finish(answer: Answer): void {
    answer.isOver = true;
    answer.response.end();
  }
}

export async function openHttpStage(transcript: Transcript, form: AnswerForm): Promise<Stage> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new HttpStage(server, transcript, form);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isAnswerTo(value: unknown, id: WireMessage["id"]): boolean {
  if (Array.isArray(value)) return value.some((item) => isAnswerTo(item, id));
  return isObject(value) && value["id"] === id && !("method" in value);
}

/** A request or notification of the server: it cannot be the whole answer to anything. */
function isAsking(value: unknown): boolean {
  return isObject(value) && "method" in value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
