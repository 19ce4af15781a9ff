import { createHost, type HostEventOf, type Session } from "plugboard";
import { createMemoryServer, createRecordedServer } from "plugboard/testing";

import { agentTools, carefulHuman, createAgentAnswers } from "../../fixtures/agent/agent-tools.ts";

export interface AgentSession extends AsyncDisposable {
  readonly session: Session;
  /** Calls that ended, in order. */
  readonly ended: readonly HostEventOf<"call-end">[];
  /** Resolves when the server has begun with a call of `wait`. */
  readonly waiting: Promise<void>;
}

/** The server `fake` of `agent-tools.ts` and a careful person's agent, through the built package. */
export async function agentSession(): Promise<AgentSession> {
  let begin = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const factory = createRecordedServer({ tools: agentTools, answers: createAgentAnswers(begin) });
  const host = await createHost({
    config: false,
    servers: { fake: () => createMemoryServer(factory).transport },
  });
  const session = host.session({ agent: "main", level: "trusted", human: carefulHuman });
  const ended: HostEventOf<"call-end">[] = [];
  session.on("call-end", (event) => ended.push(event));
  await session.ready();
  return { session, ended, waiting, [Symbol.asyncDispose]: () => host.close() };
}
