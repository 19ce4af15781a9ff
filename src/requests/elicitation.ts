import { untilAborted } from "../async/until-aborted.ts";
import type { Limits } from "../config/keys/limits.ts";
import type { ServerConfig } from "../config/keys/server-config.ts";
import type { ElicitAnswer, ElicitQuestion } from "../human/human.ts";
import { checkPage } from "../isolation/network/check-page.ts";
import type { Logger } from "../ports/logger.ts";
import type { JsonObject } from "../text/json-object.ts";
import { boundedText } from "../text/untrusted/bounded-text.ts";
import { urlPolicyOf } from "./elicitation-url.ts";
import { checkContent, parseForm } from "./form.ts";
import type { OpenedPages } from "./opened-pages.ts";
import { type Asking, questionOrigin, refuseQuestion } from "./question.ts";

/** How often a form is shown again after an answer that does not fit it. */
const maxTries = 3;
const maxMessageChars = 4_000;

export interface ElicitationOptions {
  /** The capability that was declared on this connection. */
  readonly offered: JsonObject;
  readonly limits: Limits;
  readonly logger: Logger;
  /** The server that asks: its own address decides which addresses it may name. */
  readonly config: ServerConfig;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly pages: OpenedPages;
}

/** The three answers of the protocol. */
export type ElicitResult =
  | { readonly action: "accept"; readonly content?: JsonObject }
  | { readonly action: "decline" | "cancel" };

const declined = { action: "decline" } as const;
const cancelled = { action: "cancel" } as const;

/**
 * Puts the server's question to the person. A question that nobody can answer is declined; one that is
 * malformed, or of a kind that was not offered, rejects.
 */
export async function answerElicitation(
  params: JsonObject,
  asking: Asking,
  options: ElicitationOptions,
): Promise<ElicitResult> {
  const { mode = "form" } = params;
  const isOffered = typeof mode === "string" && Object.hasOwn(options.offered, mode);
  if (isOffered && mode === "form") return await askForm(params, asking, options);
  if (isOffered && mode === "url") return await askToOpen(params, asking, options);
  throw refuseQuestion("elicitation/create", "this way of asking was not offered");
}

async function askForm(
  params: JsonObject,
  asking: Asking,
  { limits, logger }: ElicitationOptions,
): Promise<ElicitResult> {
  const form = parseForm(params["requestedSchema"], limits);
  const question = {
    kind: "form" as const,
    ...questionOrigin(asking),
    message: messageOf(params),
    fields: form.fields,
  };
  let problem: string | undefined;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const answer = await ask(
      problem === undefined ? question : { ...question, problem },
      asking,
      logger,
    );
    if (answer.action !== "accept") return { action: answer.action };
    const checked = await checkContent(form, answer.content ?? {});
    if (checked.ok) return { action: "accept", content: checked.content };
    ({ problem } = checked);
  }
  logger.warn("no answer to a form of the server fits it", {
    serverName: asking.serverName,
    problem,
  });
  return cancelled;
}

async function askToOpen(
  params: JsonObject,
  asking: Asking,
  { config, hostEnv, logger, pages }: ElicitationOptions,
): Promise<ElicitResult> {
  const { human, signal, serverName } = asking;
  const checked = checkPage(params["url"], urlPolicyOf(config, hostEnv));
  if (!checked.ok) throw refuseQuestion("elicitation/create", checked.reason);
  if (human?.openUrl === undefined) return declined;
  const { href: url, host } = checked;
  const question = {
    kind: "url" as const,
    ...questionOrigin(asking),
    message: messageOf(params),
    url,
    host,
  };
  const { action } = await ask(question, asking, logger);
  if (action !== "accept") return { action };
  // Added before it opens: the server may report the page complete before `openUrl` resolves.
  pages.add(params["elicitationId"], { human, host });
  try {
    await untilAborted(human.openUrl(url, { signal }), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn("an address could not be opened", { serverName, error: String(error) });
    return cancelled;
  }
  return { action };
}

/** Asks the person: `decline` where nobody can be asked, `cancel` when asking fails or the answer is malformed. */
async function ask(
  question: ElicitQuestion,
  { human, signal, serverName }: Asking,
  logger: Logger,
): Promise<ElicitAnswer> {
  if (human?.elicit === undefined) return declined;
  signal.throwIfAborted();
  try {
    const answer = await untilAborted(human.elicit(question, { signal }), signal);
    return isAnswer(answer) ? answer : cancelled;
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn("a person could not be asked", { serverName, error: String(error) });
    return cancelled;
  }
}

function isAnswer(answer: unknown): answer is ElicitAnswer {
  const action = (answer as { readonly action?: unknown } | null | undefined)?.action;
  return action === "accept" || action === "decline" || action === "cancel";
}

function messageOf({ message }: JsonObject): string {
  if (typeof message !== "string")
    throw refuseQuestion("elicitation/create", "it does not say what it is about");
  return boundedText(message, maxMessageChars);
}
