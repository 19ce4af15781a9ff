import {
  checkArguments,
  listOf,
  object,
  options,
  type Shape,
  text,
} from "../errors/check-arguments.ts";
import { createError } from "../errors/families.ts";

/** One right. A part of `resource` that is `*` stands for anything in that place. */
export interface Capability {
  /** `mcp:{server}:{tool}`; `mcp:github:*` is every tool of one server, `mcp:*:*` every tool. */
  readonly resource: string;
  readonly action: string;
  /** Milliseconds since the epoch; absent: as long as the set. */
  readonly expiresAt?: number | undefined;
}

export interface GrantTerms {
  readonly expiresAt?: number | undefined;
}

const iterable: Shape = {
  words: "a list of capabilities",
  accepts: (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
};
// `checkExpiry` checks `expiresAt` and words what is wrong with it.
const terms = options({});

/** The action of every right to a tool. */
export const executeAction = "execute";

/**
 * All that an agent may do: an empty set allows nothing. A set grows by `grant` until it is frozen; sets
 * derived from it only ever allow less.
 */
export class CapabilitySet {
  readonly #capabilities: Capability[];
  /** By the server part of their resource, `*` among them: an agent may have a right of its own for each server. */
  readonly #byOwner = new Map<string, Capability[]>();
  #isFrozen = false;

  constructor(capabilities: Iterable<Capability> = []) {
    this.#capabilities = [];
    checkArguments("CapabilitySet", { capabilities: iterable }, [capabilities]);
    for (const capability of capabilities) {
      checkArguments("CapabilitySet", { capability: object }, [capability]);
      const { resource, action, expiresAt } = capability;
      this.grant(resource, action, { expiresAt });
    }
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  get size(): number {
    return this.#capabilities.length;
  }

  /**
   * Throws `denied` once the set is frozen, and `config_invalid` for a resource that could never match or
   * an end that is no time.
   */
  grant(resource: string, action: string = executeAction, given: GrantTerms = {}): this {
    if (this.#isFrozen)
      throw createError("denied", "this set of capabilities is frozen: nothing can be added to it");
    const shapes = { resource: text, action: text, terms };
    checkArguments("CapabilitySet.grant", shapes, [resource, action, given]);
    const { expiresAt } = given;
    const flaw = flawOf(resource);
    if (flaw !== undefined)
      throw createError("config_invalid", `the capability "${resource}" ${flaw}`, {
        hint: "write mcp:server:tool, mcp:server:* or mcp:*:*",
      });
    checkExpiry(expiresAt);
    const capability = { resource, action, ...(expiresAt === undefined ? {} : { expiresAt }) };
    this.#capabilities.push(Object.freeze(capability));
    const owner = ownerOf(resource);
    const others = this.#byOwner.get(owner);
    if (others === undefined) this.#byOwner.set(owner, [capability]);
    else others.push(capability);
    return this;
  }

  allows(resource: string, action: string, now: number = Date.now()): boolean {
    return this.find(resource, action, now) !== undefined;
  }

  /** Whether the set allows anything of this server, named `mcp:{server}`; otherwise nobody need start it. */
  reaches(serverResource: string, action: string, now: number = Date.now()): boolean {
    checkResource(serverResource);
    const anything = `${serverResource}:*`;
    for (const capability of this.#about(anything))
      if (
        isAlive(capability, action, now) &&
        intersect(capability.resource, anything) !== undefined
      )
        return true;
    return false;
  }

  /** The right that allows this; of several, the one that lasts longest. */
  find(resource: string, action: string, now: number = Date.now()): Capability | undefined {
    checkResource(resource);
    let best: Capability | undefined;
    for (const capability of this.#about(resource)) {
      if (!isAlive(capability, action, now) || !covers(capability.resource, resource)) continue;
      if (best === undefined || endOf(capability) > endOf(best)) best = capability;
    }
    return best;
  }

  /** The rights that could be about a resource: those of its server, and those of any. */
  *#about(resource: string): Generator<Capability> {
    const owner = ownerOf(resource);
    // A question about any server is one about all rights.
    if (owner === "*") yield* this.#capabilities;
    else {
      yield* this.#byOwner.get(owner) ?? [];
      yield* this.#byOwner.get("*") ?? [];
    }
  }

  /** A frozen set of what both this set and one of the patterns allow: never more, never longer. */
  attenuate(resources: readonly string[], given: GrantTerms = {}): CapabilitySet {
    const shapes = { resources: listOf(text), terms };
    checkArguments("CapabilitySet.attenuate", shapes, [resources, given]);
    const { expiresAt } = given;
    checkExpiry(expiresAt);
    const limit = expiresAt ?? Number.POSITIVE_INFINITY;
    const narrowed = this.#capabilities.flatMap((capability) =>
      resources.flatMap((pattern): Capability[] => {
        const resource = intersect(capability.resource, pattern);
        if (resource === undefined) return [];
        const end = Math.min(endOf(capability), limit);
        const { action } = capability;
        return [{ resource, action, ...(Number.isFinite(end) ? { expiresAt: end } : {}) }];
      }),
    );
    return new CapabilitySet(narrowed).freeze();
  }

  freeze(): this {
    this.#isFrozen = true;
    return this;
  }

  /** A frozen copy: rights that are granted to this set afterwards do not reach it. */
  toFrozen(): CapabilitySet {
    return this.#isFrozen ? this : new CapabilitySet(this.#capabilities).freeze();
  }

  [Symbol.iterator](): Iterator<Capability> {
    return this.#capabilities[Symbol.iterator]();
  }
}

/** Checks the type of a resource; builds nothing for a string, because every call asks. */
function checkResource(resource: string): void {
  if (typeof resource !== "string") checkArguments("CapabilitySet", { resource: text }, [resource]);
}

type Parts = readonly [scheme: string, owner: string, rest: string];

/** Splits at the first two colons only: a tool's name may hold colons of its own. */
function partsOf(resource: string): Parts | undefined {
  const first = resource.indexOf(":");
  const second = resource.indexOf(":", first + 1);
  if (second === -1) return undefined;
  return [resource.slice(0, first), resource.slice(first + 1, second), resource.slice(second + 1)];
}

function ownerOf(resource: string): string {
  return partsOf(resource)?.[1] ?? "";
}

function flawOf(resource: string): string | undefined {
  const parts = partsOf(resource);
  if (parts === undefined || parts.includes("")) return "does not have three parts";
  const isHalfWild = parts.some((part) => part.includes("*") && part !== "*");
  return isHalfWild ? 'has a "*" beside other characters, which matches nothing' : undefined;
}

function covers(pattern: string, resource: string): boolean {
  if (pattern === resource) return true;
  const wanted = partsOf(pattern);
  const asked = partsOf(resource);
  if (wanted === undefined || asked === undefined) return false;
  return wanted.every((part, index) => part === "*" || part === asked[index]);
}

function intersect(one: string, other: string): string | undefined {
  const left = partsOf(one);
  const right = partsOf(other);
  if (left === undefined || right === undefined) return undefined;
  const parts = left.map((part, index) => {
    const counterpart = right[index] as string;
    if (part === "*") return counterpart;
    return counterpart === "*" || counterpart === part ? part : undefined;
  });
  return parts.includes(undefined) ? undefined : parts.join(":");
}

function isAlive(capability: Capability, action: string, now: number): boolean {
  const isMeant = capability.action === action || capability.action === "*";
  return isMeant && endOf(capability) > now;
}

function endOf({ expiresAt }: Capability): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}

/**
 * Throws `config_invalid` for an end that is no time: read as "no end", a date that could not be parsed
 * would be a right for ever.
 */
export function checkExpiry(expiresAt: unknown): void {
  if (expiresAt === undefined || (typeof expiresAt === "number" && !Number.isNaN(expiresAt)))
    return;
  throw createError("config_invalid", "a right cannot end at what is no time", {
    hint: "expiresAt is a number: milliseconds since the epoch",
  });
}
