import { isJsonObject, type JsonObject } from "../../src/text/json-object.ts";
import type { Pair } from "./compare.ts";
import type { Label, Transcript } from "./transcript.ts";

/** Something the server said about a request of the client. */
export interface SaidAnswer {
  /** The request it answers. */
  readonly label: Label;
  readonly message: JsonObject;
  /** The id is the very one the client chose. */
  readonly isExact: boolean;
  /** It only reads like it. */
  readonly isDisguised: boolean;
  readonly isInBatch: boolean;
}

/** Every message of the server, references unresolved, in the order of the reactions. */
export function messagesOf({ reactions }: Pick<Transcript, "reactions">): readonly unknown[] {
  return Object.values(reactions).flatMap((emissions) =>
    emissions.flatMap((emission) => {
      if ("send" in emission) return [emission.send];
      return "text" in emission ? parsed(emission.text) : [];
    }),
  );
}

function parsed(text: string): unknown[] {
  try {
    return [
      JSON.parse(text.replace(/<<([^<>]+)>>/g, (_, label) => JSON.stringify({ $id: label }))),
    ];
  } catch {
    return [];
  }
}

/** The labels of an operation's requests, whoever of the two sent them. */
export function labelsOf({ core, sdk }: Pick<Pair, "core" | "sdk">): readonly Label[] {
  const labels = [...core.sent, ...sdk.sent].flatMap(({ label }) =>
    typeof label === "string" ? [label] : [],
  );
  return [...new Set(labels)];
}

/** What the server said in answer to an operation, with whatever it took for the id. */
export function answersTo(pair: Pick<Pair, "transcript" | "core" | "sdk">): readonly SaidAnswer[] {
  const labels = labelsOf(pair);
  return messagesOf(pair.transcript).flatMap((message) => {
    const isInBatch = Array.isArray(message);
    return (isInBatch ? message : [message]).flatMap((item: unknown): SaidAnswer[] => {
      if (!isJsonObject(item) || !isJsonObject(item["id"])) return [];
      const { $id, as } = item["id"];
      return labels.includes($id as Label)
        ? [
            {
              label: $id as Label,
              message: item,
              isExact: as === undefined,
              isDisguised: as === "text" || as === "hex",
              isInBatch,
            },
          ]
        : [];
    });
  });
}

/** The answers that count, one for each request: the first with its very id. */
export function firstAnswers(
  pair: Pick<Pair, "transcript" | "core" | "sdk">,
): readonly SaidAnswer[] {
  const answers = answersTo(pair).filter(({ isExact }) => isExact);
  return answers.filter(
    ({ label }, index) => answers.findIndex((answer) => answer.label === label) === index,
  );
}

/** The results of the requests that one of the two sent, in the order it sent them. */
export function resultsSeenBy(client: "core" | "sdk", pair: Pair): readonly JsonObject[] {
  const { transcript } = pair;
  return pair[client].sent.flatMap((message) => {
    const only = { ...pair[client], sent: [message] };
    const [answer] = firstAnswers({ transcript, core: only, sdk: only });
    return isJsonObject(answer?.message["result"]) ? [answer.message["result"]] : [];
  });
}

/** Whether the server said exactly this, alone or inside of something else. */
export function wasSaid(transcript: Transcript, value: unknown): boolean {
  const wanted = JSON.stringify(value);
  return contains(messagesOf(transcript), wanted);
}

function contains(value: unknown, wanted: string): boolean {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) === wanted;
  return (
    JSON.stringify(value) === wanted || Object.values(value).some((item) => contains(item, wanted))
  );
}
