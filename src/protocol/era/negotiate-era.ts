import { Stop } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Timer } from "../../ports/clock.ts";
import { durationText } from "../../text/duration-text.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import { cancelledFailure, invalidResult, withDetails } from "../channel/channel-failures.ts";
import { CallbackRequest, type RpcAnswer } from "../channel/pending-requests.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import type { ProtocolOptions } from "../protocol-client.ts";
import { declaredCapabilities } from "../wire/input-handlers.ts";
import {
  eraOfVersion,
  modernVersion,
  type ProtocolEra,
  supportedVersions,
} from "../wire/protocol-versions.ts";
import {
  type ClientFacts,
  initializeParams,
  modernEnvelope,
  readDiscoverResult,
  readInitializeResult,
  type ServerFacts,
} from "./handshake.ts";
import { type Attempt, type NegotiationPlan, planNegotiation } from "./negotiation-plan.ts";

export interface Negotiated extends ServerFacts {
  readonly era: ProtocolEra;
  /** The era to begin with next time; modern also for a server that was merely slow to say so. */
  readonly provenEra: ProtocolEra;
  readonly protocolVersion: string;
  /** Members of `_meta` of every message; only the modern era has them. */
  readonly envelope?: JsonObject;
  /** The result that decided, as the server sent it. */
  readonly discover?: JsonObject;
  readonly initializeResult?: JsonObject;
}

/**
 * Opens the channel and finds out how to talk to the server: `server/discover` and `initialize` on
 * the same pipe, in the order of the plan. Resolves when the server is ready for requests. Rejects
 * with a typed error and a closed channel; `details.diedOfProbe` means that a process may only have
 * been killed by a question it did not know and deserves one more start without it.
 */
export async function negotiateEra(
  channel: RpcChannel,
  options: ProtocolOptions,
): Promise<Negotiated> {
  try {
    return await new EraNegotiation(channel, options).run();
  } catch (error) {
    await channel.close();
    throw error;
  }
}

const unsupportedVersionCode = -32_022;

class EraNegotiation {
  readonly #channel: RpcChannel;
  readonly #options: ProtocolOptions;
  readonly #plan: NegotiationPlan;
  readonly #client: ClientFacts;
  readonly #envelope: JsonObject;
  readonly #waiting: Attempt[];
  readonly #open = new Map<Attempt, CallbackRequest>();
  readonly #failures = new Map<Attempt, McpError>();
  readonly #timers: Timer[] = [];
  #resolve: (negotiated: Negotiated) => void = () => undefined;
  #reject: (error: McpError) => void = () => undefined;
  #phase: Attempt | "start" | "notifications/initialized" = "start";
  /** A modern server that has been sent `initialize` too, while that is unanswered. */
  #modern: Negotiated | undefined;
  #hasRepeatedProbe = false;
  #isDecided = false;

  constructor(channel: RpcChannel, options: ProtocolOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#plan = planNegotiation(options);
    const { clientInfo, inputHandlers = {} } = options;
    this.#client = { clientInfo, capabilities: declaredCapabilities(inputHandlers) };
    this.#envelope = modernEnvelope(this.#client);
    this.#waiting = [...this.#plan.attempts];
  }

  async run(): Promise<Negotiated> {
    const { signal, connectTimeoutMs, serverName } = this.#options;
    const channel = this.#channel;
    const stop = new Stop({
      signals: [signal],
      cancelled: () => cancelledFailure("connecting", serverName),
      clock: this.#options.clock,
      afterMs: connectTimeoutMs > 0 ? connectTimeoutMs : undefined,
      tooLate: () => this.#tooLate(),
    });
    const fail = (): void => this.#fail(stop.signal.reason as McpError);
    try {
      return await new Promise<Negotiated>((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
        if (stop.signal.aborted) return fail();
        stop.signal.addEventListener("abort", fail);
        channel.onend = (error) => this.#ended(error);
        channel.onanonymouserror = (error) => this.#refusedUnnamed(error);
        channel.start().then(
          () => {
            this.#options.onStarted?.();
            this.#next();
          },
          (error: McpError) => this.#fail(error),
        );
      });
    } finally {
      stop.clear();
      channel.onend = undefined;
      channel.onanonymouserror = undefined;
      for (const timer of this.#timers) timer.cancel();
    }
  }

  #next(): void {
    const attempt = this.#waiting.shift();
    if (attempt !== undefined) this.#begin(attempt);
  }

  #begin(attempt: Attempt): void {
    if (this.#isDecided) return;
    this.#phase = attempt;
    const params =
      attempt === "initialize"
        ? initializeParams(this.#plan.offeredVersion, this.#client)
        : { _meta: this.#envelope };
    // Time is kept for the negotiation as a whole.
    const options = { purpose: "handshake", timeoutMs: 0 } as const;
    const request = new CallbackRequest({ method: attempt, params, options }, (answer) =>
      this.#answered(attempt, answer),
    );
    this.#open.set(attempt, request);
    this.#channel.request(request);
    // On HTTP the answer belongs to the request, so silence says nothing about the era.
    const isHedged = this.#plan.isHedged && !this.#channel.hasPerRequestStream;
    if (isHedged && attempt === "server/discover")
      this.#unlessDecidedSoon(() => {
        if (this.#open.has(attempt)) this.#next();
      });
  }

  #answered(attempt: Attempt, answer: RpcAnswer): void {
    // When the channel ended, `onend` knows more than each of its open requests.
    if (this.#isDecided || this.#channel.end !== undefined) return;
    this.#open.delete(attempt);
    if (!answer.ok) this.#refused(attempt, answer.error);
    else if (attempt === "initialize") this.#initialized(answer.result);
    else this.#discovered(answer.result);
  }

  #discovered(result: JsonObject): void {
    const facts = readDiscoverResult(result);
    if (facts === undefined) {
      const reason = "it names no protocol version this client speaks";
      this.#refused("server/discover", invalidResult(reason, this.#exchange("server/discover")));
      return;
    }
    const modern: Negotiated = {
      ...facts,
      era: "modern",
      provenEra: "modern",
      protocolVersion: modernVersion,
      envelope: this.#envelope,
      discover: result,
    };
    if (!this.#open.has("initialize")) {
      this.#finishModern(modern);
      return;
    }
    // A server of both eras that reads `initialize` after the probe is a legacy server from then on,
    // so its answer to `initialize` decides; only a refusal or silence makes the probe's answer count.
    this.#modern = modern;
    this.#unlessDecidedSoon(() => this.#finishModern(modern));
  }

  #initialized(result: JsonObject): void {
    const facts = readInitializeResult(result);
    if (facts === undefined) {
      const reason = "it names no protocol version";
      this.#refused("initialize", invalidResult(reason, this.#exchange("initialize")));
      return;
    }
    const { protocolVersion } = facts;
    if (eraOfVersion(protocolVersion) !== "legacy") {
      this.#refused("initialize", this.#unspoken(protocolVersion));
      return;
    }
    this.#decide();
    const provenEra = this.#modern === undefined ? "legacy" : "modern";
    this.#channel.setProtocolVersion(protocolVersion);
    this.#phase = "notifications/initialized";
    this.#channel.notify("notifications/initialized").then(
      () => this.#resolve({ ...facts, era: "legacy", provenEra, initializeResult: result }),
      (error: McpError) => this.#fail(error),
    );
  }

  #finishModern(modern: Negotiated): void {
    this.#decide();
    this.#channel.setProtocolVersion(modernVersion, modern.envelope);
    this.#resolve(modern);
  }

  #refused(attempt: Attempt, error: McpError): void {
    if (error.code === "connection_lost") {
      this.#ended(error);
    } else if (!isEraEvidence(error)) {
      this.#fail(error);
    } else if (attempt === "server/discover" && !this.#hasRepeatedProbe && offersModern(error)) {
      this.#hasRepeatedProbe = true;
      this.#begin("server/discover");
    } else {
      this.#failures.set(attempt, error);
      this.#advance();
    }
  }

  /** A refusal without an id can only be about the probe while nothing else has been sent. */
  #refusedUnnamed(error: McpError): void {
    const probe = this.#open.get("server/discover");
    if (probe === undefined || this.#open.size > 1 || this.#waiting.length === 0) return;
    this.#channel.abandon(probe);
    this.#answered("server/discover", { ok: false, error });
  }

  #advance(): void {
    if (this.#modern !== undefined) this.#finishModern(this.#modern);
    else if (this.#waiting.length > 0) this.#next();
    else if (this.#open.size === 0) this.#fail(this.#refusal());
    // Refused one way, silent the other way: the refusal is reported once the silence is conclusive.
    else this.#unlessDecidedSoon(() => this.#fail(this.#refusal()));
  }

  /** Runs `task` after the probe's time, unless the matter has been decided by then. */
  #unlessDecidedSoon(task: () => void): void {
    const { clock, limits } = this.#options;
    const guarded = () => {
      if (!this.#isDecided) task();
    };
    this.#timers.push(clock.schedule(limits.eraProbeMs, guarded));
  }

  /** Late answers to whatever else was asked are nobody's fault. */
  #decide(): void {
    this.#isDecided = true;
    for (const request of this.#open.values()) this.#channel.abandon(request);
  }

  #fail(error: McpError): void {
    this.#isDecided = true;
    this.#reject(withDetails(error, { phase: this.#phase }));
  }

  #ended(error: McpError | undefined): void {
    if (error === undefined) return;
    const { attempts } = this.#plan;
    const mayHaveDiedOfProbe =
      attempts.length > 1 &&
      attempts[0] === "server/discover" &&
      (this.#phase === "server/discover" || this.#phase === "initialize") &&
      !this.#channel.hasPerRequestStream;
    this.#fail(mayHaveDiedOfProbe ? withDetails(error, { diedOfProbe: true }) : error);
  }

  /** The refusal of `initialize` explains a failed start; a refused probe is ordinary. */
  #refusal(): McpError {
    const { serverName } = this.#options;
    const initialize = this.#failures.get("initialize");
    if (initialize !== undefined) return handshakeFailure(initialize);
    return createError(
      "protocol_violation",
      `the server does not speak protocol version ${modernVersion}, the one configured`,
      { serverName, cause: this.#failures.get("server/discover") },
    );
  }

  #unspoken(version: string): McpError {
    const { serverName } = this.#options;
    const shown = serverText(version, 40);
    return createError(
      "protocol_violation",
      `the server answered initialize with protocol version "${shown}", which this client does not speak`,
      { serverName, details: { protocolVersion: shown, supported: supportedVersions } },
    );
  }

  #tooLate(): McpError {
    const { serverName, connectTimeoutMs } = this.#options;
    const { received } = this.#channel.counts;
    const complaint =
      this.#phase === "start" ? "the transport did not open" : `no answer to ${this.#phase}`;
    const unanswered = `${complaint} within ${durationText(connectTimeoutMs)}`;
    const seen = received === 0 ? "nothing received" : `${received} other messages received`;
    return createError("start_timeout", `${unanswered} (${seen})`, {
      serverName,
      details: { timeoutMs: connectTimeoutMs, received, unanswered },
    });
  }

  #exchange(method: Attempt) {
    return { serverName: this.#options.serverName, method };
  }
}

/** No tool was called and no result was asked for: an answer that ends the handshake is a failure to connect. */
function handshakeFailure(error: McpError): McpError {
  if (error.code !== "rpc_error" && error.code !== "invalid_result") return error;
  const { message, serverName, details } = error;
  const what =
    error.code === "rpc_error" ? "the server refused the handshake" : "the handshake made no sense";
  return createError("protocol_violation", `${what}: ${message}`, {
    serverName,
    details,
    cause: error,
  });
}

/**
 * True when a failed attempt tells something about the era. An answer that refuses or makes no sense
 * does, and so does HTTP 4xx; sign-in, outage and refused addresses would meet the next attempt too.
 */
function isEraEvidence(error: McpError): boolean {
  if (error.code !== "http_error")
    return ["rpc_error", "protocol_violation", "invalid_result"].includes(error.code);
  const { status } = error.details;
  return typeof status === "number" && status >= 400 && status < 500;
}

/** The server knows the modern era and lists our revision, yet refused: the protocol asks for one repetition. */
function offersModern(error: McpError): boolean {
  const { rpc } = error.details;
  if (!isJsonObject(rpc) || rpc["code"] !== unsupportedVersionCode) return false;
  const supported = isJsonObject(rpc["data"]) ? rpc["data"]["supported"] : undefined;
  return Array.isArray(supported) && supported.includes(modernVersion);
}
