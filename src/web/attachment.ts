import { createError } from "../errors/families.ts";
import type { HostEvent } from "../events/host-event.ts";
import { type Ask, type CutPart, type Notice, readAnswer, toWire } from "../host/resident/asks.ts";
import type { Answerer, Asker } from "../host/resident/shared-questions.ts";
import type { Human } from "../human/human.ts";
import type { ShownText } from "../human/shown-text.ts";
import type { Session } from "../session/session.ts";

/** A line that an attached process reads. */
export type AttachmentLine =
  | { readonly attachment: string }
  | {
      readonly ask: string;
      readonly method: string;
      readonly question: unknown;
      /** The session of this very process that asks. */
      readonly session?: string | undefined;
      readonly program?: string | undefined;
    }
  | { readonly withdrawn: string }
  | { readonly notice: Notice }
  | { readonly event: HostEvent; readonly session?: string | undefined };

interface OpenAsk {
  readonly ask: Ask;
  /** Parts of the question that this process has been shown whole. */
  readonly seen: Set<CutPart>;
  readonly settle: (answer: unknown) => void;
}

/**
 * Another process that uses this host, for as long as it reads the stream that it has opened: its sessions, the
 * servers it connected for its agents, and the questions that are put to the person there.
 */
export class Attachment implements Answerer {
  readonly id: string;
  readonly #write: (line: AttachmentLine) => void;
  readonly #open = new Map<string, OpenAsk>();
  readonly #sessions = new Map<string, Session>();
  readonly #ended = new AbortController();
  readonly #claims = new Map<string, Set<string>>();
  #count = 0;

  constructor(id: string, write: (line: AttachmentLine) => void) {
    this.id = id;
    this.#write = write;
  }

  /** Aborts when the process has gone. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The person at the other end, for questions of a session there that concern nobody else. */
  humanOf(session: string): Human {
    const own = this.askerOf(session);
    const ask = async (asked: Ask, signal: AbortSignal): Promise<never> =>
      (await this.ask(asked, own, signal)) as never;
    return {
      confirm: (question, { signal }) => ask({ method: "confirm", question }, signal),
      elicit: (question, { signal }) => ask({ method: "elicit", question }, signal),
      input: (question, { signal }) => ask({ method: "input", question }, signal),
      openUrl: (url, { signal }) => ask({ method: "openUrl", question: { url } }, signal),
      notify: (notice) => this.notify(notice),
    };
  }

  ask(ask: Ask, asker: Asker, signal: AbortSignal): Promise<unknown> {
    const id = String((this.#count += 1));
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#open.delete(id);
        signal.removeEventListener("abort", withdraw);
        this.ended.removeEventListener("abort", leave);
      };
      const withdraw = (): void => {
        end();
        this.#write({ withdrawn: id });
        reject(signal.reason);
      };
      const leave = (): void => {
        end();
        reject(createError("connection_lost", "the process that was asked has ended"));
      };
      signal.addEventListener("abort", withdraw);
      this.ended.addEventListener("abort", leave);
      this.#open.set(id, {
        ask,
        seen: new Set(),
        settle: (answer) => {
          end();
          if (answer === undefined) reject(cannotAnswer());
          else resolve((answer as { readonly value: unknown }).value);
        },
      });
      const session = asker.attachment === this.id ? asker.session : undefined;
      const { program } = asker;
      this.#write({ ask: id, method: ask.method, question: toWire(ask), session, program });
    });
  }

  notify(notice: Notice): void {
    this.#write({ notice });
  }

  event(event: HostEvent, session?: string): void {
    this.#write({ event, session });
  }

  /** Takes an answer; `late` when the question is no longer open. `unanswerable` says that nobody there can. */
  answer(
    id: string,
    given: { readonly answer?: unknown; readonly unanswerable?: boolean },
  ): "taken" | "late" | "invalid" {
    const open = this.#open.get(id);
    if (open === undefined) return "late";
    if (given.unanswerable === true) {
      open.settle(undefined);
      return "taken";
    }
    const read = readAnswer(open.ask.method, given.answer);
    if (read === undefined) return "invalid";
    // A yes to what this process was not shown whole counts as a no, whoever else has seen it.
    const isUnseen = cutTexts(open.ask).some(([part]) => !open.seen.has(part));
    open.settle(open.ask.method === "confirm" && isUnseen ? { value: "no" } : read);
    return "taken";
  }

  /** The whole of a text of an open question; undefined when there is none of that name. */
  async whole(id: string, part: string): Promise<string | undefined> {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    const [name, shown] = textsOf(open.ask).find(([known]) => known === part) ?? [];
    if (name === undefined || shown === undefined) return undefined;
    const text = await shown.whole();
    open.seen.add(name);
    return text;
  }

  /** Agents for which it connected a server, by the name of the server. */
  get claims(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#claims;
  }

  noteClaim(serverName: string, owner: string): void {
    const owners = this.#claims.get(serverName) ?? new Set();
    this.#claims.set(serverName, owners.add(owner));
  }

  askerOf(session: string): Asker {
    return { attachment: this.id, session };
  }

  /** Opens a session under an id that whoever asks on its behalf knows. */
  openSession(open: (id: string) => Session): string {
    const id = String((this.#count += 1));
    this.#sessions.set(id, open(id));
    return id;
  }

  session(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  removeSession(id: string): void {
    this.#sessions.delete(id);
  }

  /** Ends everything that the process had here: questions put to it fail, its calls are cancelled. */
  end(): void {
    this.#ended.abort(createError("cancelled", "the process that asked for it has ended"));
    this.#sessions.clear();
  }
}

function textsOf({ method, question }: Ask): readonly (readonly [CutPart, ShownText])[] {
  if (method !== "confirm") return [];
  const { argumentsText, prompt } = question;
  return [
    ...(argumentsText === undefined ? [] : [["argumentsText", argumentsText] as const]),
    ...(prompt === undefined ? [] : [["prompt", prompt] as const]),
  ];
}

function cutTexts(ask: Ask): readonly (readonly [CutPart, ShownText])[] {
  return textsOf(ask).filter(([, { omittedChars }]) => omittedChars > 0);
}

function cannotAnswer(): Error {
  return createError("consent_denied", "nobody there could answer");
}
