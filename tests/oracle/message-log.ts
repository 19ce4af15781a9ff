import type { SeenMessage } from "./observation.ts";
import { Labels } from "./peer/script-player.mjs";
import type { SentMessage, WireMessage } from "./tapped-transport.ts";
import type { Label } from "./transcript.ts";

/** Whose a message is: an operation by its place, or the handshake. */
export type Owner = number | "connect";

interface Entry {
  readonly sent: SentMessage;
  readonly label: Label;
  readonly owner: Owner | undefined;
}

const cancelled = "notifications/cancelled";

/** What a client sent, by operation, with labels in place of the ids it happened to choose. */
export class MessageLog {
  readonly #sent: readonly SentMessage[];
  readonly #entries: Entry[] = [];
  readonly #requests = new Map<unknown, Entry>();
  readonly #labels = new Labels();

  constructor(sent: readonly SentMessage[]) {
    this.#sent = sent;
  }

  /** What was sent since the last time belongs to `owner`, if it does not name another's request. */
  assign(owner: Owner): void {
    for (const sent of this.#sent.slice(this.#entries.length)) {
      const { message } = sent;
      const label = this.#labels.of(message.method, message.params?.["cursor"]);
      const entry = { sent, label, owner: this.#ownerOf(message, owner) };
      this.#entries.push(entry);
      if (message.method !== undefined && message.id !== undefined)
        this.#requests.set(message.id, entry);
    }
  }

  of(owner: Owner): SeenMessage[] {
    const own = this.#entries.filter((entry) => entry.owner === owner);
    const withdrawn = own.filter(({ sent }) => sent.isWithdrawn);
    return [
      ...own.map((entry) => this.#seen(entry)),
      ...withdrawn.map(({ label }) => ({ withdrawn: label })),
    ];
  }

  unassigned(): SeenMessage[] {
    return this.#entries
      .filter(({ owner }) => owner === undefined)
      .map((entry) => this.#seen(entry));
  }

  #ownerOf({ method, params }: WireMessage, current: Owner): Owner | undefined {
    if (method === undefined) return undefined;
    if (method !== cancelled) return current;
    return this.#requests.get(params?.["requestId"])?.owner ?? current;
  }

  #seen({ sent: { message, headers }, label }: Entry): SeenMessage {
    const { method, id, params, result, error } = message;
    if (method === undefined) return { id, ...(error === undefined ? { result } : { error }) };
    if (method === cancelled)
      return {
        method,
        request: this.#requests.get(params?.["requestId"])?.label,
        reason: typeof params?.["reason"],
        ...metaOf(params, id),
      };
    const { _meta, ...plain } = params ?? {};
    return {
      method,
      ...(id !== undefined && { label }),
      params: plain,
      ...metaOf(params, id),
      ...(Object.keys(headers).length > 0 && { headers }),
    };
  }
}

/** What the client says in `_meta`; an empty one says nothing, and a progress token is as good as any. */
function metaOf(params: WireMessage["params"], id: WireMessage["id"]): SeenMessage {
  const meta = { ...(params?.["_meta"] as object | undefined) };
  if ("progressToken" in meta) meta.progressToken = meta.progressToken === id ? "its id" : "other";
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}
