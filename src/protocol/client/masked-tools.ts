import { TimeSlice } from "../../async/time-slice.ts";
import { findable, maskKnown } from "../../text/secrets/redact.ts";
import type { ListedTool, ToolListing } from "../protocol-client.ts";

/**
 * Keeps credentials that a server writes into its tool list out of every place that names a tool:
 * status, types, events, the store. Such a tool has a masked name here, under which it is called, and
 * its own only on the wire.
 */
export class MaskedTools {
  readonly #credentials: readonly string[];
  /** By the name on the wire. */
  #masked: ReadonlyMap<string, string> = new Map();
  #onWire: ReadonlyMap<string, string> = new Map();

  private constructor(credentials: readonly string[]) {
    this.#credentials = credentials;
  }

  /** Undefined for a server that was given no credential: there is nothing to mask then. */
  static for(credentials: readonly string[] = []): MaskedTools | undefined {
    const known = findable(credentials);
    return known.length === 0 ? undefined : new MaskedTools(known);
  }

  async mask({ tools, rejected, ...rest }: ToolListing): Promise<ToolListing> {
    const slice = new TimeSlice();
    const names = new FreeNames(tools.map(({ name }) => name));
    const masked = new Map<string, string>();
    const shown: ListedTool[] = [];
    for (const tool of tools) {
      if (slice.isOver) await slice.next();
      const { name } = tool;
      const maskedName = this.#maskText(name);
      if (maskedName !== name && !masked.has(name)) masked.set(name, names.take(maskedName));
      shown.push(this.#maskTool(tool, masked.get(name) ?? name));
    }
    this.#masked = masked;
    this.#onWire = new Map([...masked].map(([onWire, name]) => [name, onWire]));
    return {
      ...rest,
      tools: shown,
      rejected: rejected.map(({ name, reason }) => ({
        name: name === null ? null : this.#maskText(name),
        reason,
      })),
    };
  }

  nameOnWire(name: string): string {
    return this.#onWire.get(name) ?? name;
  }

  maskedName(nameOnWire: string): string {
    return this.#masked.get(nameOnWire) ?? nameOnWire;
  }

  /** The tool itself when it holds no credential. */
  #maskTool(tool: ListedTool, name: string): ListedTool {
    const title = tool.title === undefined ? undefined : this.#maskText(tool.title);
    const description =
      tool.description === undefined ? undefined : this.#maskText(tool.description);
    if (name === tool.name && title === tool.title && description === tool.description) return tool;
    return {
      ...tool,
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
    };
  }

  #maskText(text: string): string {
    return maskKnown(text, this.#credentials);
  }
}

/** Names of a list that stay different: one that is taken gets a number. */
class FreeNames {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  take(name: string): string {
    let count = this.#counts.get(name) ?? 1;
    let free = count === 1 ? name : `${name}_${count}`;
    while (this.#taken.has(free)) {
      count += 1;
      free = `${name}_${count}`;
    }
    this.#counts.set(name, count);
    this.#taken.add(free);
    return free;
  }
}
