import { resolveLimits } from "../config/keys/limits.ts";
import { connectDirectly, type DirectInput, type McpClient } from "../connection/direct-client.ts";
import {
  checkDirectArguments,
  type DirectOptions,
  type DirectServer,
  directConfig,
} from "../connection/open-directly.ts";
import { EventBus } from "../events/event-bus.ts";
import type { Human } from "../human/human.ts";
import { systemClock } from "../ports/clock.ts";
import { loggerOf } from "../ports/default-logger.ts";
import { createIdGenerator } from "../ports/id-generator.ts";
import { endRequest, type RequestOwner } from "../protocol/wire/request-owner.ts";
import type { Roots } from "../requests/roots.ts";
import type { SamplingHandler } from "../requests/sampling.ts";
import { ServerQuestions } from "../requests/server-questions.ts";

/**
 * Options of `connectClient`. Without `human`, `sampling` and `roots` the server is told that it cannot ask
 * for anything.
 */
export interface ClientOptions extends DirectOptions {
  /** Answers what the server asks a person. */
  readonly human?: Human | undefined;
  /** Lets the server ask the program's model. */
  readonly sampling?: SamplingHandler | undefined;
  /** The folders the server is told to work in. */
  readonly roots?: Roots | undefined;
}

/**
 * Connects to the server an entry describes, or that waits behind a ready transport. What the server
 * asks is answered by the same rules and within the same bounds as in a host.
 */
export async function connectClient(
  server: DirectServer,
  options: ClientOptions = {},
): Promise<McpClient> {
  checkDirectArguments("connectClient", server, options);
  const { human, sampling, roots } = options;
  const mayAsk = human !== undefined || sampling !== undefined || roots !== undefined;
  return await connectDirectly(server, options, mayAsk ? createInput(server, options) : undefined);
}

function createInput(server: DirectServer, options: ClientOptions): DirectInput {
  const { human, sampling, roots, logger, env: hostEnv = process.env } = options;
  const createId = createIdGenerator();
  const questions = new ServerQuestions({
    human,
    sampling,
    roots,
    cwd: process.cwd(),
    limits: resolveLimits(options.limits),
    clock: systemClock,
    events: new EventBus(),
    logger: loggerOf(logger),
    createId,
    hostEnv,
  }).forConnection(directConfig(server), null);
  const caller = { agent: "main", sessionId: createId(), human };
  return {
    handlers: () => questions.handlers(),
    begin(toolName) {
      const owner: RequestOwner = {
        callId: undefined,
        caller,
        target: toolName === undefined ? undefined : { tool: { originalName: toolName } },
        end: undefined,
      };
      return { owner, end: () => endRequest(owner) };
    },
    heard: (notification) => questions.heard(notification),
  };
}
