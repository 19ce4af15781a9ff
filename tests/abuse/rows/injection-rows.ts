import { runAnthropicCalls, runOpenAiCalls } from "../../../src/adapters/index.ts";
import { modelText, type Session } from "../../../src/index.ts";
import { findInstructionSigns } from "../../../src/text/untrusted/instruction-signs.ts";
import { neutralize } from "../../../src/text/untrusted/neutralize.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import { injections, injectionWays } from "../hostile/injections.mjs";
import type { Lab } from "../lab.ts";
import { createBareHost, type Product } from "../product.ts";
import { type Figures, type Row, zero } from "../row.ts";

const attack = "mcp__injecting__attack";
const lineBreak = /\r\n?|[\n\u0085\u2028\u2029]/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const unseen = /[\u001B\u009B\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/** What a model is given of a call, by each way to it. */
async function readings(session: Session, tool: string, args: object): Promise<readonly string[]> {
  const outcome = await session.call(tool, { ...args });
  // Errors that are not the tool's own are thrown; what they say is read, too.
  const executed = await session
    .execute(tool, { ...args })
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  const use = { type: "tool_use", id: "1", name: tool, input: args };
  const [block] = await runAnthropicCalls(session, [use]);
  const call = {
    id: "1",
    type: "function",
    function: { name: tool, arguments: JSON.stringify(args) },
  };
  const [message] = await runOpenAiCalls(session, [call] as never);
  return [modelText(outcome), executed, textIn(block), textIn(message)];
}

/** Every text in a value, in lines. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textIn).join("\n");
}

/** Lines of what the server said that are there as it said them; our own last line is not its. */
function rawLines(said: string, reading: string): number {
  const injected = new Set(said.split(lineBreak).filter((line) => line.trim() !== ""));
  const lines = reading.replace(/\[End of untrusted text\]\s*$/, "").split(lineBreak);
  return lines.filter((line) => injected.has(line)).length;
}

/** Escapes and invisible letters need no frame where they are gone, nor does what was cut off. */
const needsFrame = (said: string, reading: string): boolean =>
  findInstructionSigns(neutralize(said)).length > 0 && !reading.trimEnd().endsWith("…");
const isFramed = (reading: string): boolean => reading.includes("[Untrusted text from");

async function inject(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "raw fences passed": 0,
    "not flagged": 0,
    "honest texts framed": 0,
    readings: 0,
  };
  await using host = await createBareHost(product, {
    servers: {
      injecting: hostileEntry("result-injection"),
      turning: hostileEntry("rug-pull-behaviour", { n: 4 }),
    },
  });
  const session = host.session({ level: "yolo" });
  const judge = (said: string, texts: readonly string[]): void => {
    for (const text of texts) {
      figures.readings += 1;
      figures["raw fences passed"] += rawLines(said, text) + Number(unseen.test(text));
      if (needsFrame(said, text) && !isFramed(text)) figures["not flagged"] += 1;
    }
  };
  for (let round = 0; round < lab.count; round += 1)
    for (const [kind, said] of Object.entries(injections))
      for (const way of injectionWays) judge(said, await readings(session, attack, { kind, way }));
  const turning = "mcp__turning__send";
  const honest = await readings(session, turning, {});
  figures["honest texts framed"] += honest.filter((text) => isFramed(text)).length;
  judge(injections["fence"] ?? "", await readings(session, turning, {}));
  return figures;
}

export const injectionRows: readonly Row[] = [
  {
    id: "D2",
    trigger: "rug-pull-behaviour, result-injection",
    expected: "quoted as untrusted, and flagged",
    measured: `${Object.keys(injections).length} texts in ${injectionWays.length} ways; what a model would be given by modelText, execute and two adapters: lines as the server wrote them, escapes and invisible letters`,
    criteria: zero("raw fences passed", "not flagged", "honest texts framed"),
    servers: {},
    ownModes: ["rug-pull-behaviour", "result-injection"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: inject,
  },
];
