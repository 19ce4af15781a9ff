import { randomUUID } from "node:crypto";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { McpHost } from "../host/host.ts";
import type { SharedQuestions } from "../host/resident/shared-questions.ts";
import { Attachment, type AttachmentLine } from "./attachment.ts";

export interface AttachmentsOptions {
  readonly host: McpHost;
  readonly questions: SharedQuestions;
}

/** What a process wants of its attachment. */
export interface AttachWish {
  /** Whether a person there answers questions of others, too. */
  readonly isSurface: boolean;
  /** Whether it wants to hear what happens in the host. */
  readonly wantsEvents: boolean;
}

/** The processes that use this host now. */
export class Attachments {
  readonly #options: AttachmentsOptions;
  readonly #byId = new Map<string, Attachment>();
  readonly #closing = new AbortController();

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  /** Keeps a process attached until `signal` aborts or the host closes, then ends what it had here. */
  async keep(
    wish: AttachWish,
    write: (line: AttachmentLine) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { host, questions } = this.#options;
    const attachment = new Attachment(randomUUID(), write);
    this.#byId.set(attachment.id, attachment);
    write({ attachment: attachment.id });
    const leave = wish.isSurface ? questions.join(attachment) : undefined;
    const unfollow = wish.wantsEvents
      ? host.on("*", (event) => attachment.event(event))
      : undefined;
    await firstAbort([signal, this.#closing.signal]);
    unfollow?.();
    leave?.();
    this.#byId.delete(attachment.id);
    attachment.end();
    await this.#release(attachment);
  }

  /** Throws `not_connected` for one that is no longer attached. */
  get(id: string): Attachment {
    const attachment = this.#byId.get(id);
    if (attachment !== undefined) return attachment;
    throw createError("not_connected", "this process is no longer attached to the host");
  }

  close(reason: McpError): void {
    this.#closing.abort(reason);
  }

  /** Servers that were connected for the agents of a process go with it, unless another one has them for the same agent. */
  async #release({ claims }: Attachment): Promise<void> {
    const { host } = this.#options;
    const others = [...this.#byId.values()];
    const own = [...claims].flatMap(([name, owners]) =>
      [...owners]
        .filter((owner) => !others.some((other) => other.claims.get(name)?.has(owner) === true))
        .map((owner) => ({ name, owner })),
    );
    await Promise.all(
      own.map(({ name, owner }) => host.disconnect(name, { owner }).catch(() => undefined)),
    );
  }
}

function firstAbort(signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    for (const signal of signals) signal.addEventListener("abort", done);
    if (signals.some(({ aborted }) => aborted)) done();
  });
}
