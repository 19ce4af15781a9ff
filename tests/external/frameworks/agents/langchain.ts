import type { BaseMessage } from "@langchain/core/messages";
import { createAgent, type CreateAgentParams, tool, ToolMessage } from "langchain";
import type { Session } from "plugboard";
import { langChainTools } from "plugboard/adapters";

export async function ask(
  session: Session,
  model: CreateAgentParams["model"],
  signal: AbortSignal,
): Promise<readonly BaseMessage[]> {
  const agent = createAgent({
    model,
    tools: await langChainTools(session, { tool, ToolMessage }),
  });
  const prompt = { role: "user", content: "Which notes do I have?" };
  const { messages } = await agent.invoke({ messages: [prompt] }, { signal });
  return messages;
}
