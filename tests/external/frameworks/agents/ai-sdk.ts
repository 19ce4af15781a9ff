import { generateText, type LanguageModel, stepCountIs } from "ai";
import type { Session } from "plugboard";
import { aiSdkTools } from "plugboard/adapters";

export async function ask(
  session: Session,
  model: LanguageModel,
  abortSignal: AbortSignal,
): Promise<string> {
  const { text } = await generateText({
    model,
    prompt: "Which notes do I have?",
    tools: await aiSdkTools(session),
    stopWhen: stepCountIs(20),
    abortSignal,
  });
  return text;
}
