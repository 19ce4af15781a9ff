import { isDeepStrictEqual } from "node:util";

import { cancelledByCaller, untilCancelled } from "../../async/until-aborted.ts";
import type {
  CallableTool,
  CallTarget,
  ConsentCall,
  ToolArguments,
} from "../../call/call-contract.ts";
import { claims } from "../../catalog/catalog-tool.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { EventBus } from "../../events/event-bus.ts";
import { subjectsOfServer } from "../../grants/consent-subject.ts";
import type { ToolGrants } from "../../grants/tool-grants.ts";
import { askPerson, QuestionTurns } from "../../human/ask-person.ts";
import { type ConfirmAnswer, confirmAnswers, type Human } from "../../human/human.ts";
import { isUnseen, noteSeen, showText } from "../../human/shown-text.ts";
import type { Clock } from "../../ports/clock.ts";
import { truncate } from "../../text/truncate.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { ConsentScope, ToolJudge } from "./tool-judge.ts";

export interface CallConsentParts {
  readonly agent: string;
  readonly sessionId: string;
  readonly human: Human | undefined;
  readonly judge: ToolJudge;
  readonly grants: ToolGrants;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Aborted when the host closes: nobody waits for an answer then. */
  readonly closing: AbortSignal;
}

/** A destructive tool is asked about every time: no answer to one question may cover the next. */
const cautiousAnswers: readonly ConfirmAnswer[] = ["no", "once"];
/** A native tool has no server to allow, and no definition that a lasting yes could be bound to. */
const nativeAnswers: readonly ConfirmAnswer[] = ["no", "once", "tool-session"];

/** Asks the person behind one session before a call, and remembers what the answer covers. */
export class CallConsent {
  readonly #parts: CallConsentParts;
  readonly #turns = new QuestionTurns();

  constructor(parts: CallConsentParts) {
    this.#parts = parts;
  }

  /**
   * Asks whether the call may be made. Resolves when the answer is yes: true if it was given to the tool as
   * it is now. Rejects with `consent_denied` or `cancelled`.
   */
  async ask(
    { tool }: Pick<CallTarget, "tool">,
    args: ToolArguments,
    call: ConsentCall,
  ): Promise<boolean> {
    const asked = this.#turns.take(tool.serverName ?? "", async () => {
      if (call.signal?.aborted === true) throw cancelledByCaller();
      return !this.#isOpen(tool) || (await this.#askNow(tool, args, call));
    });
    return await untilCancelled(asked, call.signal, tool.serverName);
  }

  /** Tells whether the question still has to be asked: the answer to another may have settled it. */
  #isOpen(tool: CallableTool): boolean {
    const { judge } = this.#parts;
    const { consent } = tool.serverName === undefined ? judge.judgeNative(tool) : judge.judge(tool);
    return consent === "ask";
  }

  async #askNow(tool: CallableTool, args: ToolArguments, call: ConsentCall): Promise<boolean> {
    const { human, clock, limits, closing } = this.#parts;
    const isDestructive = claims(tool, "destructiveHint");
    const answers = isDestructive
      ? cautiousAnswers
      : tool.serverName === undefined
        ? nativeAnswers
        : confirmAnswers;
    const scope = this.#scopeOf(tool);
    const argumentsText = showText(call.argumentsText);
    this.#publish("consent-asked", tool, call);
    const answer = await askPerson(
      {
        kind: isContent(tool) ? "content" : "tool-call",
        ...(tool.serverName === undefined ? {} : { serverName: tool.serverName }),
        toolName: tool.originalName,
        agent: this.#parts.agent,
        get arguments() {
          noteSeen(argumentsText);
          return args;
        },
        argumentsText,
        isDestructive,
        answers,
      },
      {
        human,
        clock,
        timeoutMs: limits.totalCallTimeoutMs,
        signals: call.signal === undefined ? [closing] : [closing, call.signal],
      },
    );
    if (call.signal?.aborted === true) throw cancelledByCaller();
    if (closing.aborted) throw createError("closed", "the host has been closed");
    // Silence and an unknown word mean no; a yes that reaches too far is a yes to this one call.
    if (answer === "no" || !confirmAnswers.includes(answer)) {
      const isReachable = this.#parts.human?.confirm !== undefined;
      this.#publish("consent-denied", tool, call, isReachable ? "no" : "nobody to ask");
      throw this.#denied(tool, isReachable ? "was not allowed" : undefined);
    }
    if (isUnseen(argumentsText)) {
      this.#publish("consent-denied", tool, call, "not shown whole");
      throw this.#denied(tool, "was not allowed: its arguments were shown only in part");
    }
    // The name may stand for another server now, or somebody revoked consent meanwhile: such a yes is neither
    // used nor kept.
    if (!isDeepStrictEqual(scope?.subject, this.#scopeOf(tool)?.subject)) {
      this.#publish("consent-denied", tool, call, "outdated");
      return false;
    }
    const granted = answers.includes(answer) ? answer : "once";
    await this.#remember(granted, tool, scope);
    this.#publish("consent-granted", tool, call, granted);
    return true;
  }

  #scopeOf(tool: CallableTool): ConsentScope | undefined {
    return tool.serverName === undefined ? undefined : this.#parts.judge.scopeOf(tool);
  }

  async #remember(
    answer: ConfirmAnswer,
    tool: CallableTool,
    scope: ConsentScope | undefined,
  ): Promise<void> {
    const { judge } = this.#parts;
    if (answer === "once") return;
    if (tool.serverName === undefined) return judge.allowNative(tool);
    if (scope === undefined) return;
    const isOfServer = answer === "server-session" || answer === "server-always";
    // A lasting yes is allowed in the session, too: a store that cannot be written must not make the person
    // answer twice.
    if (isOfServer) judge.allowServer(scope);
    else judge.allowTool(scope);
    if (answer === "tool-always" || answer === "server-always") await this.#keep(scope, isOfServer);
  }

  async #keep({ subject, offered }: ConsentScope, isOfServer: boolean): Promise<void> {
    const { agent, sessionId, grants, events, clock } = this.#parts;
    const { serverName, consentId } = subject;
    const covered = isOfServer
      ? subjectsOfServer(offered, { includeDestructive: false })
      : [subject];
    try {
      await grants.grant(
        covered.map(({ toolName, fingerprint }) => ({ agent, consentId, toolName, fingerprint })),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown reason";
      const text = `what was allowed for good holds for this session only: ${reason}`;
      events.emit({ type: "warning", serverName, sessionId, text, at: clock.now() });
    }
  }

  #publish(
    type: "consent-asked" | "consent-granted" | "consent-denied",
    tool: CallableTool,
    { callId }: ConsentCall,
    answer?: string,
  ): void {
    const { agent, sessionId, events, clock } = this.#parts;
    const { serverName = null, originalName: toolName } = tool;
    events.emit({
      type,
      sessionId,
      callId,
      agent,
      serverName,
      toolName,
      ...(answer === undefined ? {} : { answer }),
      at: clock.now(),
    });
  }

  /** The error of a call without consent; no reason means that nobody could be asked. */
  #denied(tool: CallableTool, reason: string | undefined): McpError {
    const { serverName, originalName: toolName } = tool;
    const name = truncate(neutralizeLine(toolName), 128);
    return createError(
      "consent_denied",
      `${name} ${reason ?? "needs a person's consent, and nobody can be asked"}`,
      {
        serverName,
        details: { rule: "consent", toolName, isDestructive: claims(tool, "destructiveHint") },
        hint: reason === undefined ? "allow it beforehand with host.grants.allow" : undefined,
      },
    );
  }
}

function isContent(tool: CallableTool): boolean {
  return tool.serverName !== undefined && tool.isContent === true;
}
