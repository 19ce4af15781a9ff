import type OpenAI from "openai";
import type { Session } from "plugboard";
import { openAiTools, runOpenAiCalls } from "plugboard/adapters";

export async function ask(session: Session, client: OpenAI, signal: AbortSignal): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: "Which notes do I have?" },
  ];
  for (;;) {
    const turn = await client.chat.completions.create(
      { model: "gpt-5", messages, tools: await openAiTools(session) },
      { signal },
    );
    const message = turn.choices[0]?.message;
    if (message?.tool_calls === undefined) return message?.content ?? "";
    messages.push(message, ...(await runOpenAiCalls(session, message.tool_calls, { signal })));
  }
}
