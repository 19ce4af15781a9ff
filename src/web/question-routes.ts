import { createError } from "../errors/families.ts";
import { type CutPart, fromWire } from "../host/resident/asks.ts";
import type { SharedQuestions } from "../host/resident/shared-questions.ts";
import type { Attachments } from "./attachments.ts";
import { BodyReader } from "./request-values.ts";
import { jsonResponse, lineResponse, notFound, readBody } from "./responses.ts";
import type { Route } from "./routes.ts";

export interface QuestionRoutesOptions {
  readonly questions: SharedQuestions;
  readonly attachments: Attachments;
}

/** Questions: asked by programs that run elsewhere, answered by whoever is attached. */
export function questionRoutes(options: QuestionRoutesOptions): readonly Route[] {
  const { questions, attachments } = options;
  return [
    {
      method: "POST",
      path: "/api/questions",
      summary: "puts a question of a program to everybody who is attached; going away withdraws it",
      handle: async ({ request }) => {
        const body = new BodyReader(await readBody(request));
        const wholes = body.object("wholes") ?? {};
        const ask = fromWire(body.text("method"), body.value("question"), (part) =>
          wholeOf(wholes, part),
        );
        const asker = { program: body.optionalText("program") };
        if (!questions.isAttended) return jsonResponse({ nobody: true }, 409);
        return lineResponse(request.signal, async (write, signal) => {
          // A line of its own tells the program that somebody is being asked.
          write({ asked: true });
          write({ answer: (await questions.ask(ask, asker, signal)) ?? null });
        });
      },
    },
    {
      method: "POST",
      path: "/api/attachments/{attachment}/answers/{ask}",
      summary: "answers a question that was put to this process; the first answer counts",
      handle: async ({ request, params: { attachment = "", ask = "" } }) => {
        const body = new BodyReader(await readBody(request));
        const given = {
          answer: body.value("answer"),
          unanswerable: body.flag("unanswerable") ?? false,
        };
        const result = attachments.get(attachment).answer(ask, given);
        if (result === "invalid")
          throw createError("invalid_arguments", "that is no answer to this question");
        return jsonResponse({ result }, result === "late" ? 409 : 200);
      },
    },
    {
      method: "GET",
      path: "/api/attachments/{attachment}/asks/{ask}/{part}",
      summary: "the whole of a text that the question shows cut",
      handle: async ({ params: { attachment = "", ask = "", part = "" } }) => {
        const text = await attachments.get(attachment).whole(ask, part);
        return text === undefined ? notFound("such text") : jsonResponse({ text });
      },
    },
  ];
}

async function wholeOf(wholes: Readonly<Record<string, unknown>>, part: CutPart): Promise<string> {
  const text = wholes[part];
  if (typeof text === "string") return text;
  throw createError("too_large", "the program that asks did not send the whole of this text");
}
