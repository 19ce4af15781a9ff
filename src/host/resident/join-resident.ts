import path from "node:path";

import { createError } from "../../errors/families.ts";
import type { ConfirmQuestion, Human } from "../../human/human.ts";
import { isUnseen, noteSeen, type ShownText, trackShown } from "../../human/shown-text.ts";
import type { HostOptions } from "../host.ts";
import { ApiClient } from "./api-client.ts";
import { type Ask, type CutPart, cutParts, readAnswer, toWire } from "./asks.ts";
import { residentPlace } from "./ground.ts";
import { readRecord } from "./resident-record.ts";
import { type Answerer, SharedQuestions } from "./shared-questions.ts";

/** The largest text that goes along with a question; a longer one can only be said yes to where it is. */
const maxWholeChars = 8 * 1_024 * 1_024;

/**
 * Makes a person out of the one who answers here, if there is one, and everybody who is attached to the host that
 * runs for the same user and folder: all are asked, and the first answer counts. The host is looked for with every
 * question, so it may come and go; without it the person here is asked alone, and without both the answer is no.
 */
export function createJoinedHumans(options: HostOptions): (local: Human | undefined) => Human {
  const elsewhere = new ResidentAnswerer(options);
  return (local) => {
    const questions = new SharedQuestions();
    questions.join(elsewhere);
    if (local !== undefined) questions.join(new LocalAnswerer(local));
    return { ...questions.humanFor(), notify: (notice) => local?.notify?.(notice) };
  };
}

/** The person who is asked in this process. */
export class LocalAnswerer implements Answerer {
  readonly #human: Human;

  constructor(human: Human) {
    this.#human = human;
  }

  async ask(ask: Ask, _asker: unknown, signal: AbortSignal): Promise<unknown> {
    const human = this.#human;
    switch (ask.method) {
      case "confirm":
        if (human.confirm !== undefined) return await this.#confirm(ask.question, signal);
        break;
      case "elicit":
        if (human.elicit !== undefined) return await human.elicit(ask.question, { signal });
        break;
      case "input":
        if (human.input !== undefined) return await human.input(ask.question, { signal });
        break;
      case "openUrl":
        if (human.openUrl !== undefined) return await human.openUrl(ask.question.url, { signal });
        break;
      case "sample":
        // The model of a program is not a person's.
        break;
    }
    throw createError("consent_denied", "nobody here can answer that");
  }

  notify(notice: Parameters<NonNullable<Human["notify"]>>[0]): void {
    this.#human.notify?.(notice);
  }

  /** That somebody elsewhere has seen the whole of a text says nothing about the person here. */
  async #confirm(question: ConfirmQuestion, signal: AbortSignal): Promise<unknown> {
    const texts = new Map<CutPart, ShownText>();
    const view = Object.create(question) as ConfirmQuestion;
    for (const part of cutParts) {
      const shown = question[part];
      if (shown === undefined) continue;
      const own = trackShown({ ...shown, whole: () => shown.whole() });
      texts.set(part, own);
      Object.defineProperty(view, part, { value: own, enumerable: true });
    }
    Object.defineProperty(view, "arguments", {
      enumerable: true,
      get: () => {
        const own = texts.get("argumentsText");
        if (own !== undefined) noteSeen(own);
        return question.arguments;
      },
    });
    const answer = await this.#human.confirm?.(view, { signal });
    return [...texts.values()].some((text) => isUnseen(text)) ? "no" : answer;
  }
}

/** Whoever is attached to the host that runs here. */
class ResidentAnswerer implements Answerer {
  readonly #options: HostOptions;

  /** A program asks whoever runs for its folder, whatever it has of its own. */
  constructor({ cwd, home, env }: HostOptions) {
    this.#options = { cwd, home, env };
  }

  async ask(ask: Ask, _asker: unknown, signal: AbortSignal): Promise<unknown> {
    const record = await readRecord(residentPlace(this.#options));
    if (record === undefined) throw createError("unreachable", "no host runs here");
    const api = new ApiClient(record);
    try {
      // One that was stopped is not waited for.
      await api.greet();
      const body = {
        method: ask.method,
        question: toWire(ask),
        wholes: await wholesOf(ask),
        program: programName(),
      };
      for await (const line of api.lines("/api/questions", body, signal)) {
        if (!("answer" in line)) continue;
        const answer = readAnswer(ask.method, line["answer"]);
        if (answer !== undefined) return answer.value;
      }
      throw createError("connection_lost", "the host that runs here has ended");
    } finally {
      api.close();
    }
  }

  /** Notices of a program are for the person at it. */
  notify(): void {}
}

function programName(): string {
  const [, script = ""] = process.argv;
  return `${path.basename(script) || "a program"} (process ${process.pid})`;
}

async function wholesOf(ask: Ask): Promise<Partial<Record<CutPart, string>>> {
  if (ask.method !== "confirm") return {};
  const wholes: Partial<Record<CutPart, string>> = {};
  for (const part of cutParts) {
    const shown = ask.question[part];
    if (shown === undefined || shown.omittedChars === 0) continue;
    if (shown.text.length + shown.omittedChars <= maxWholeChars) wholes[part] = await shown.whole();
  }
  return wholes;
}
