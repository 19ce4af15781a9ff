import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import type { Session } from "plugboard";
import { claudeAgentServers } from "plugboard/adapters";

export async function ask(session: Session, options: Options = {}): Promise<string> {
  const mcpServers = await claudeAgentServers(session);
  const run = query({
    prompt: "Which notes do I have?",
    options: {
      ...options,
      mcpServers,
      // Whether a call is allowed is decided by the session: Claude Code need not ask as well.
      allowedTools: Object.keys(mcpServers).map((name) => `mcp__${name}`),
    },
  });
  let answer = "";
  for await (const message of run)
    if (message.type === "result" && message.subtype === "success") answer = message.result;
  return answer;
}
