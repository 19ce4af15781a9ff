import type Anthropic from "@anthropic-ai/sdk";
import type { Session } from "plugboard";
import { anthropicTools, runAnthropicCalls } from "plugboard/adapters";

export async function ask(
  session: Session,
  client: Anthropic,
  signal: AbortSignal,
): Promise<readonly Anthropic.ContentBlock[]> {
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Which notes do I have?" }];
  for (;;) {
    const { content, stop_reason: reason } = await client.messages.create(
      {
        model: "claude-opus-4-5",
        max_tokens: 4_096,
        messages,
        tools: await anthropicTools(session),
      },
      { signal },
    );
    if (reason !== "tool_use") return content;
    messages.push(
      { role: "assistant", content },
      { role: "user", content: await runAnthropicCalls(session, content, { signal }) },
    );
  }
}
