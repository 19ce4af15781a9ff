import { Agent, type Model, Runner } from "@openai/agents-core";
import type { Session } from "plugboard";
import { openAiAgentsTools } from "plugboard/adapters";

export async function ask(session: Session, model: Model, signal: AbortSignal): Promise<string> {
  const agent = new Agent({ name: "notes", model, tools: await openAiAgentsTools(session) });
  const runner = new Runner({ tracingDisabled: true });
  const { finalOutput } = await runner.run(agent, "Which notes do I have?", { signal });
  return finalOutput ?? "";
}
