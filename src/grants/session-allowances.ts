import type { ConsentId } from "../config/keys/server-ids.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import { serverResource, toolResource } from "../policy/resource-name.ts";
import type { ConsentSubject } from "./consent-subject.ts";

interface ServerAllowance {
  readonly consentId: ConsentId;
  readonly epoch: number;
  /** Fingerprints of the tools there were when the person said yes: a new tool is a new question. */
  readonly fingerprints: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** The tools and servers that a person has allowed one agent for the rest of its session. */
export class SessionAllowances {
  readonly #servers = new Map<string, ServerAllowance>();
  readonly #tools = new Map<string, ConsentSubject>();
  readonly #revision: AccessRevision;

  constructor(revision: AccessRevision) {
    this.#revision = revision;
  }

  get isEmpty(): boolean {
    return this.#servers.size === 0 && this.#tools.size === 0;
  }

  allowTool(subject: ConsentSubject): void {
    this.#tools.set(toolResource(subject.serverName, subject.toolName), subject);
    this.#revision.advance(subject.serverName);
  }

  allowServer(subject: ConsentSubject, fingerprints: Iterable<string>): void {
    const { serverName, consentId, epoch } = subject;
    this.#servers.set(serverName, { consentId, epoch, fingerprints: new Set(fingerprints) });
    this.#revision.advance(serverName);
  }

  /** The keys `mcp:{server}` and `mcp:{server}:{tool}` that are allowed for exactly this subject. */
  keysFor(subject: ConsentSubject): ReadonlySet<string> {
    const { serverName, toolName, consentId, epoch, fingerprint } = subject;
    if (this.isEmpty) return none;
    const keys = new Set<string>();
    const server = this.#servers.get(serverName);
    if (
      server?.consentId === consentId &&
      server.epoch === epoch &&
      server.fingerprints.has(fingerprint)
    )
      keys.add(serverResource(serverName));
    const key = toolResource(serverName, toolName);
    const tool = this.#tools.get(key);
    if (tool?.consentId === consentId && tool.epoch === epoch && tool.fingerprint === fingerprint)
      keys.add(key);
    return keys;
  }
}
