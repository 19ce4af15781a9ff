// @ts-check

/**
 * @typedef {import("../transcript.ts").Emission} Emission
 * @typedef {import("../transcript.ts").Reactions} Reactions
 * @typedef {{ readonly id?: unknown, readonly method?: unknown, readonly params?: unknown }} ClientMessage
 *
 * @typedef {object} Wire how what the script says reaches the client
 * @property {(line: string, by: string) => void} send `by` is the label of the message it reacts to
 * @property {(by: string) => void} end
 * @property {(status: number, by: string) => void} [refuse]
 *
 * @typedef {{ readonly by: string, readonly rest: Emission[] }} Reaction
 */

/** Names the messages of a client in the order they come: by method, pages also by their cursor. */
export class Labels {
  /** @type {Map<string, number>} */
  #counts = new Map();

  /**
   * @param {unknown} method
   * @param {unknown} cursor
   */
  of(method, cursor) {
    const kind = typeof method === "string" ? method : "answer";
    const name = typeof cursor === "string" ? `${kind}@${cursor}` : kind;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return `${name}#${count}`;
  }
}

/** Plays the server's part of a transcript. */
export class ScriptPlayer {
  /** @type {Reactions} */
  #reactions;
  /** @type {Wire} */
  #wire;
  #labels = new Labels();
  /** @type {Map<string, { readonly id: unknown, readonly token: unknown }>} */
  #arrived = new Map();
  /** @type {Reaction[]} */
  #waiting = [];

  /**
   * @param {Reactions} reactions
   * @param {Wire} wire
   */
  constructor(reactions, wire) {
    this.#reactions = reactions;
    this.#wire = wire;
  }

  /**
   * Gives a message its label; `react` follows.
   *
   * @param {ClientMessage} message
   */
  arrive(message) {
    const params =
      /** @type {{ cursor?: string, _meta?: { progressToken?: unknown } } | undefined} */ (
        message.params
      );
    const label = this.#labels.of(message.method, params?.cursor);
    this.#arrived.set(label, { id: message.id, token: params?._meta?.progressToken });
    return label;
  }

  /** Whether anything is still to come about the message. @param {string} label */
  isWaiting(label) {
    return this.#waiting.some(({ by }) => by === label);
  }

  /** Everything the script has to say now that the message is there. @param {string} label */
  react(label) {
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const reaction of resumed) this.#play(reaction);
    const emissions = Object.hasOwn(this.#reactions, label) ? this.#reactions[label] : undefined;
    this.#play({ by: label, rest: [...(emissions ?? [])] });
  }

  /** @param {Reaction} reaction */
  #play({ by, rest }) {
    for (let emission = rest[0]; emission !== undefined; emission = rest[0]) {
      if ("until" in emission && !this.#arrived.has(emission.until)) {
        this.#waiting.push({ by, rest });
        return;
      }
      rest.shift();
      if ("send" in emission) this.#wire.send(JSON.stringify(this.#resolve(emission.send)), by);
      else if ("text" in emission) this.#wire.send(this.#fill(emission.text), by);
      else if ("status" in emission) this.#wire.refuse?.(emission.status, by);
      else if ("end" in emission) this.#wire.end(by);
    }
  }

  /**
   * @param {unknown} value
   * @returns {unknown}
   */
  #resolve(value) {
    if (Array.isArray(value)) return value.map((item) => this.#resolve(item));
    if (typeof value !== "object" || value === null) return value;
    const { $id, $token, as } = /** @type {Record<string, unknown>} */ (value);
    if (typeof $id === "string") return disguise(this.#arrived.get($id)?.id, as);
    if (typeof $token === "string") return disguise(this.#arrived.get($token)?.token, as);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#resolve(item)]),
    );
  }

  /** @param {string} text */
  #fill(text) {
    return text.replace(/<<([^<>]+)>>/g, (_, label) =>
      JSON.stringify(this.#arrived.get(label)?.id ?? null),
    );
  }
}

/**
 * @param {unknown} id
 * @param {unknown} as
 */
function disguise(id, as) {
  switch (as) {
    case "text":
      return String(id);
    case "hex":
      return ` 0x${Number(id).toString(16)} `;
    case "beyond":
      return Number(id) + 1_000;
    default:
      return id;
  }
}
