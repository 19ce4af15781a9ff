import type OpenAI from "openai";
import type { Session } from "plugboard";
import { openAiResponsesTools, runOpenAiCalls } from "plugboard/adapters";

export async function ask(session: Session, client: OpenAI, signal: AbortSignal): Promise<string> {
  let input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Which notes do I have?" }];
  let previous: string | null = null;
  for (;;) {
    const turn: OpenAI.Responses.Response = await client.responses.create(
      {
        model: "gpt-5",
        input,
        tools: await openAiResponsesTools(session),
        previous_response_id: previous,
      },
      { signal },
    );
    input = await runOpenAiCalls(session, turn.output, { signal });
    if (input.length === 0) return turn.output_text;
    previous = turn.id;
  }
}
