import fc from "fast-check";

import type { JsonObject } from "../../../src/text/json-object.ts";
import type { Transcript } from "../transcript.ts";
import { type Episode, oddEpisode, type Reaction, smallTalk, validEpisode } from "./episodes.ts";
import { legacyHelloFlaw, modernHelloFlaw } from "./flaws.ts";
import { answer, refusal, ScriptBuilder } from "./script-builder.ts";
import { legacyHello, modernHello, rarely, rpcError } from "./valid-values.ts";

type Hello = (script: ScriptBuilder, negotiation: Transcript["negotiation"]) => void;

/** What the server says around its greeting. */
interface SmallTalk {
  readonly before: Reaction | undefined;
  readonly after: Reaction | undefined;
}

const aroundHello: fc.Arbitrary<SmallTalk> = fc.record({
  before: rarely(smallTalk),
  after: rarely(smallTalk),
});

/** `refused` is what a server of the 2025 era says to the question it does not know. */
function legacyOpening(hello: JsonObject, refused: JsonObject, talk: SmallTalk): Hello {
  return (script, negotiation) => {
    if (negotiation === "auto") {
      const probe = script.expect("server/discover");
      script.react(probe, { send: refusal(probe, refused) });
    }
    const label = script.expect("initialize");
    script.react(label, ...(talk.before?.(label, script) ?? []), { send: answer(label, hello) });
    const initialized = script.expect("notifications/initialized");
    if (talk.after !== undefined) script.react(initialized, ...talk.after(initialized, script));
  };
}

function modernOpening(hello: JsonObject): Hello {
  return (script) => {
    const label = script.expect("server/discover");
    script.react(label, { send: answer(label, hello) });
  };
}

const same = fc.constant((value: JsonObject) => value);

function opening(era: "legacy" | "modern", isOdd: boolean): fc.Arbitrary<Hello> {
  if (era === "legacy")
    return fc
      .tuple(legacyHello, isOdd ? legacyHelloFlaw : same, rpcError, aroundHello)
      .map(([hello, flaw, refused, talk]) => legacyOpening(flaw(hello), refused, talk));
  return fc
    .tuple(modernHello, isOdd ? modernHelloFlaw : same)
    .map(([hello, flaw]) => modernOpening(flaw(hello)));
}

interface Style {
  readonly name: string;
  readonly hasOddOpening: boolean;
  readonly episode: fc.Arbitrary<Episode>;
  readonly maxEpisodes: number;
}

function transcripts({ name, hasOddOpening, episode, maxEpisodes }: Style) {
  return fc.constantFrom("legacy" as const, "modern" as const).chain((era) =>
    fc
      .record({
        negotiation: fc.constantFrom("auto" as const, "known" as const),
        offersInput: fc.boolean(),
        open: opening(era, hasOddOpening),
        episodes: fc.array(episode, { maxLength: maxEpisodes }),
      })
      .map(({ negotiation, offersInput, open, episodes }) => {
        const script = new ScriptBuilder(era, offersInput);
        open(script, negotiation);
        for (const add of episodes) add(script);
        const transcript = script.build(name, negotiation);
        // As it would be in a file: generated objects may lack a prototype.
        return JSON.parse(JSON.stringify(transcript)) as Transcript;
      }),
  );
}

/** Servers that keep to the protocol. */
export const validTranscript: fc.Arbitrary<Transcript> = transcripts({
  name: "a valid server",
  hasOddOpening: false,
  episode: validEpisode,
  maxEpisodes: 6,
});

/** Servers that nearly do, in their answers. */
export const oddTranscript: fc.Arbitrary<Transcript> = transcripts({
  name: "a nearly valid server",
  hasOddOpening: false,
  episode: fc.oneof({ weight: 3, arbitrary: oddEpisode }, validEpisode),
  maxEpisodes: 4,
});

/** Servers that nearly do, in their handshake. */
export const oddOpeningTranscript: fc.Arbitrary<Transcript> = transcripts({
  name: "a nearly valid handshake",
  hasOddOpening: true,
  episode: validEpisode,
  maxEpisodes: 1,
});
