import { compare, type Difference } from "./compare.ts";
import { coreSubject } from "./core-subject.ts";
import type { Observation } from "./observation.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { runTranscript } from "./run-transcript.ts";
import { sdkSubject } from "./sdk-subject.ts";
import type { Stage } from "./stage.ts";
import type { Subject } from "./subject.ts";
import type { Transcript } from "./transcript.ts";

export interface Verdict {
  readonly explained: readonly { readonly difference: Difference; readonly rule: Rule }[];
  readonly unexplained: readonly Difference[];
}

export type OpenStage = (transcript: Transcript) => Promise<Stage>;

/** Has both clients do what the transcript says, each with a server of its own. */
export async function judge(
  transcript: Transcript,
  openStage: OpenStage,
  ours: Subject = coreSubject,
): Promise<Verdict> {
  const core = await observe(ours);
  const sdk = await observe(sdkSubject);
  const explained: { difference: Difference; rule: Rule }[] = [];
  const unexplained: Difference[] = [];
  for (const difference of compare(transcript, core, sdk)) {
    const rule = rules.find((candidate) => candidate.explains(difference));
    if (rule === undefined) unexplained.push(difference);
    else explained.push({ difference, rule });
  }
  return { explained, unexplained };

  async function observe(subject: Subject): Promise<Observation> {
    await using stage = await openStage(transcript);
    return await runTranscript(transcript, subject, stage);
  }
}
