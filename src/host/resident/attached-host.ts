import type { RequestApprovalOptions } from "../../approval/launch-approval.ts";
import type { ConfigProblem } from "../../config/keys/config-problem.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { EventBus, type Unsubscribe } from "../../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType } from "../../events/host-event.ts";
import type { Human } from "../../human/human.ts";
import type { LaunchQuestion } from "../../human/launch-question.ts";
import type { SamplingHandler } from "../../requests/sampling.ts";
import { closest } from "../../text/closest.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type {
  ConnectOptions,
  DisconnectOptions,
  NamedEntry,
  ServerStatus,
  SessionOptions,
  StartOptions,
} from "../host.ts";
import type { SharedHost, SharedSession } from "../shared-host.ts";
import { type ApiClient, reviveError } from "./api-client.ts";
import { type Ask, type CutPart, fromWire, type Notice } from "./asks.ts";
import { AttachedSession } from "./attached-session.ts";

/** How a process uses a host that runs elsewhere. */
export interface AttachOptions {
  /** Who answers here what others ask; without it this process answers for its own sessions alone. */
  readonly surface?: AttachedSurface | undefined;
}

/** A place where a person may answer whatever is asked at the host. */
export interface AttachedSurface {
  /** Who is asked what sessions elsewhere want to know; `program` names one that runs on a host of its own. */
  humanFor(program: string | undefined): Human;
  readonly sampling?: SamplingHandler | undefined;
}

interface Snapshot {
  readonly servers: readonly ServerStatus[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * A host that runs in another process, as if it were here. `servers()` is what was known when something was last
 * waited for; `refresh` looks again.
 */
export class AttachedHost implements SharedHost {
  readonly #api: ApiClient;
  readonly #surface: AttachedSurface | undefined;
  readonly #events = new EventBus();
  readonly #sessions = new Map<string, AttachedSession>();
  readonly #withdrawals = new Map<string, AbortController>();
  readonly #lost = new AbortController();
  #id = "";
  #snapshot: Snapshot = { servers: [], problems: [] };

  private constructor(api: ApiClient, surface: AttachedSurface | undefined) {
    this.#api = api;
    this.#surface = surface;
  }

  /**
   * Attaches this process. Rejects with `not_connected` when the host does not want it, and with `unreachable` or
   * `connection_lost` when there is none any more.
   */
  static async attach(
    api: ApiClient,
    environment: string,
    { surface }: AttachOptions = {},
  ): Promise<AttachedHost> {
    const host = new AttachedHost(api, surface);
    const isSurface = surface !== undefined;
    const lines = api.lines(
      "/api/attachments",
      { environment, surface: isSurface, events: isSurface },
      host.#lost.signal,
    );
    const { value: first } = await api.soon((late) => {
      late.addEventListener("abort", () => host.#lost.abort());
      return lines.next();
    });
    if (typeof first?.["attachment"] !== "string")
      throw createError("connection_lost", "the host that runs here has ended");
    host.#id = first["attachment"];
    void host.#follow(lines);
    await host.refresh();
    return host;
  }

  /** Aborts when the host has gone, or this process has let go of it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get configProblems(): readonly ConfigProblem[] {
    return this.#snapshot.problems;
  }

  servers(): readonly ServerStatus[] {
    return this.#snapshot.servers;
  }

  async serversAsLastSeen(): Promise<readonly ServerStatus[]> {
    const { servers } = await this.#api.get("/api/last-seen");
    return (servers as readonly JsonObject[]).map(reviveStatus);
  }

  server(name: string): ServerStatus {
    const known = this.#snapshot.servers;
    // A pending entry that waits to replace another one stands behind it.
    const found = known.find((server) => server.name === name);
    if (found !== undefined) return found;
    const names = known.map((server) => server.name);
    throw createError("server_unknown", `no server "${name}"`, {
      details: { suggestions: closest(name, names), configured: names },
    });
  }

  /** Looks at the servers again. */
  async refresh(): Promise<void> {
    const { servers, problems } = await this.#api.get("/api/servers");
    this.#snapshot = {
      servers: (servers as readonly JsonObject[]).map(reviveStatus),
      problems: problems as readonly ConfigProblem[],
    };
  }

  async reload(): Promise<void> {
    await this.#api.post("/api/reload");
    await this.refresh();
  }

  async connect(server: string | NamedEntry, options: ConnectOptions = {}): Promise<ServerStatus> {
    if (typeof server !== "string")
      throw createError("invalid_arguments", "only a server of that host can be connected there");
    return await this.#open(server, "connect", options);
  }

  async reconnect(name: string, options: ConnectOptions = {}): Promise<ServerStatus> {
    return await this.#open(name, "reconnect", options);
  }

  async disconnect(name: string, { owner }: DisconnectOptions = {}): Promise<void> {
    await this.#api.post(`${pathOf(name)}/disconnect`, { owner });
    await this.refresh();
  }

  async approvalQuestion(name: string): Promise<LaunchQuestion | undefined> {
    const { launch } = await this.#api.get(`${pathOf(name)}/approval`);
    return (launch ?? undefined) as LaunchQuestion | undefined;
  }

  async requestApproval(name: string, options: RequestApprovalOptions = {}): Promise<boolean> {
    const launch = await this.approvalQuestion(name);
    if (launch === undefined) return true;
    const { human, agent, by, signal = this.#lost.signal } = options;
    const asked = { kind: "launch", serverName: name, launch, answers } as const;
    const question = agent === undefined ? asked : { ...asked, agent };
    const answer = await human?.confirm?.(question, { signal });
    if (answer !== "server-always") return false;
    await this.approve(name, { launchId: launch.launchId, by: by ?? "person" });
    return true;
  }

  async approve(
    name: string,
    options: { readonly launchId?: string | undefined; readonly by?: string | undefined } = {},
  ): Promise<void> {
    const launchId = options.launchId ?? (await this.approvalQuestion(name))?.launchId;
    if (launchId !== undefined)
      await this.#api.post(`${pathOf(name)}/approval`, { launchId, by: options.by });
    await this.refresh();
  }

  async emitTypes(name: string, { timeoutMs, signal }: StartOptions = {}): Promise<string> {
    const { source } = await this.#api.post(`${pathOf(name)}/types`, { timeoutMs }, signal);
    return String(source);
  }

  session(options: SessionOptions = {}): SharedSession {
    return new AttachedSession(options, {
      api: this.#api,
      attachment: () => this.#id,
      isSurface: this.#surface !== undefined,
      opened: (id, session) => this.#sessions.set(id, session),
      lost: this.#lost.signal,
    });
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    return this.#events.on(type as "*", handler as (event: HostEvent) => void);
  }

  /** Lets go of the host, which goes on. */
  async close(): Promise<void> {
    this.#lost.abort(createError("closed", "this process has let go of the host"));
    this.#api.close();
  }

  async #open(
    name: string,
    action: "connect" | "reconnect",
    options: ConnectOptions,
  ): Promise<ServerStatus> {
    const { signal, onPhase, owner, shared, mode, timeoutMs } = options;
    const body = { attachment: this.#id, owner, shared, mode, timeoutMs };
    let status: ServerStatus | undefined;
    for await (const line of this.#api.lines(`${pathOf(name)}/${action}`, body, signal)) {
      if (typeof line["phase"] === "string")
        onPhase?.(line["phase"] as Parameters<NonNullable<typeof onPhase>>[0]);
      if (isJsonObject(line["status"])) status = reviveStatus(line["status"]);
    }
    if (status === undefined)
      throw createError("connection_lost", "the host that runs here has ended", {
        serverName: name,
      });
    await this.refresh();
    return status;
  }

  /** Reads what the host says until one of both goes. */
  async #follow(lines: AsyncGenerator<JsonObject, void>): Promise<void> {
    try {
      for await (const line of lines) this.#take(line);
    } catch (error) {
      if (!McpError.is(error)) throw error;
    } finally {
      for (const withdrawal of this.#withdrawals.values()) withdrawal.abort();
      this.#lost.abort(createError("connection_lost", "the host that runs here has ended"));
    }
  }

  #take(line: JsonObject): void {
    const { ask, withdrawn, notice, event, session } = line;
    if (typeof ask === "string") void this.#answer(ask, line);
    else if (typeof withdrawn === "string") this.#withdrawals.get(withdrawn)?.abort();
    else if (isJsonObject(notice))
      this.#surface?.humanFor(undefined).notify?.(notice as unknown as Notice);
    else if (isJsonObject(event)) {
      const told = event as unknown as HostEvent;
      if (typeof session === "string") this.#sessions.get(session)?.emit(told);
      else this.#events.emit(told);
    }
  }

  async #answer(id: string, line: JsonObject): Promise<void> {
    const withdrawal = new AbortController();
    this.#withdrawals.set(id, withdrawal);
    const address = `/api/attachments/${this.#id}`;
    const loadWhole = async (part: CutPart): Promise<string> =>
      String((await this.#api.get(`${address}/asks/${id}/${part}`))["text"]);
    try {
      const ask = fromWire(line["method"], line["question"], loadWhole);
      const answer = await this.#askPerson(ask, line, withdrawal.signal);
      const body = answer === undefined ? { unanswerable: true } : { answer: answer.value ?? null };
      if (!withdrawal.signal.aborted) await this.#api.post(`${address}/answers/${id}`, body);
    } catch (error) {
      // Somebody else was quicker, or the host has gone: nobody waits for this answer.
      if (!McpError.is(error)) throw error;
    } finally {
      this.#withdrawals.delete(id);
    }
  }

  /** Undefined when nobody here can answer that. */
  async #askPerson(
    ask: Ask,
    line: JsonObject,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown } | undefined> {
    const human = this.#human(line) ?? {};
    try {
      switch (ask.method) {
        case "confirm":
          return human.confirm && { value: await human.confirm(ask.question, { signal }) };
        case "elicit":
          return human.elicit && { value: await human.elicit(ask.question, { signal }) };
        case "input":
          return human.input && { value: await human.input(ask.question, { signal }) };
        case "openUrl":
          return human.openUrl && { value: await human.openUrl(ask.question.url, { signal }) };
        case "sample": {
          const sample = this.#surface?.sampling;
          return sample && { value: await sample(ask.question, { signal }) };
        }
      }
    } catch {
      // A person who cannot be asked is nobody.
      return undefined;
    }
  }

  /** Who answers here: the person of the session that asks, or of the surface. */
  #human({ program, session }: JsonObject): Human | undefined {
    if (typeof session === "string") return this.#sessions.get(session)?.human;
    return this.#surface?.humanFor(typeof program === "string" ? program : undefined);
  }
}

const answers = ["no", "server-always"] as const;

function pathOf(serverName: string): string {
  return `/api/servers/${encodeURIComponent(serverName)}`;
}

function reviveStatus(status: JsonObject): ServerStatus {
  const { lastError } = status;
  return {
    ...status,
    lastError: lastError === undefined ? undefined : reviveError(lastError),
  } as unknown as ServerStatus;
}
