import { describe, expect, it } from "vitest";

import type { ConfirmAnswer } from "../../human/human.ts";
import type { Ask } from "./asks.ts";
import { type Answerer, SharedQuestions } from "./shared-questions.ts";

const question = { kind: "tool-call", serverName: "files", toolName: "write_file" } as const;
const never = new AbortController().signal;

/** A place whose person answers when the test says so. */
class ScriptedPlace implements Answerer {
  readonly asked: Ask[] = [];
  readonly withdrawn: Ask[] = [];
  answer: (answer: ConfirmAnswer) => void = () => {};
  fail: () => void = () => {};

  ask(ask: Ask, _asker: unknown, signal: AbortSignal): Promise<unknown> {
    this.asked.push(ask);
    signal.addEventListener("abort", () => this.withdrawn.push(ask));
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.fail = () => reject(new Error("nobody here"));
    });
  }

  notify(): void {}
}

describe("questions that are shared", () => {
  it("the first answer counts, and the others are told that it is over", async () => {
    const questions = new SharedQuestions();
    const [first, second] = [new ScriptedPlace(), new ScriptedPlace()];
    questions.join(first);
    questions.join(second);
    const answer = questions.humanFor().confirm?.(question, { signal: never });
    second.answer("once");
    first.answer("no");
    expect(await answer).toBe("once");
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
    expect(first.withdrawn).toHaveLength(1);
    expect(questions.openCount).toBe(0);
  });

  it("two answers at once give one decision, a hundred times", async () => {
    const questions = new SharedQuestions();
    const places = [new ScriptedPlace(), new ScriptedPlace()];
    for (const place of places) questions.join(place);
    const decisions: unknown[] = [];
    for (let round = 0; round < 100; round += 1) {
      const answer = questions.humanFor().confirm?.(question, { signal: never });
      const order = round % 2 === 0 ? places : places.toReversed();
      for (const [index, place] of order.entries()) place.answer(index === 0 ? "once" : "no");
      decisions.push(await answer);
    }
    expect(decisions).toEqual(Array.from({ length: 100 }, () => "once"));
  });

  it("whoever joins later is asked what is still open", async () => {
    const questions = new SharedQuestions();
    questions.join(new ScriptedPlace());
    const answer = questions.humanFor().confirm?.(question, { signal: never });
    const late = new ScriptedPlace();
    questions.join(late);
    expect(late.asked).toHaveLength(1);
    late.answer("tool-session");
    expect(await answer).toBe("tool-session");
  });

  it("one who cannot answer is left out; when nobody remains there is no answer", async () => {
    const questions = new SharedQuestions();
    const [first, second] = [new ScriptedPlace(), new ScriptedPlace()];
    questions.join(first);
    const leave = questions.join(second);
    const answer = questions.humanFor().confirm?.(question, { signal: never });
    first.fail();
    leave();
    await expect(answer).rejects.toMatchObject({ code: "consent_denied" });
  });

  it("nobody is waited for where nobody is", async () => {
    const human = new SharedQuestions().humanFor();
    await expect(human.confirm?.(question, { signal: never })).rejects.toMatchObject({
      code: "consent_denied",
    });
  });

  it("a question that is no longer wanted is taken away everywhere", async () => {
    const questions = new SharedQuestions();
    const place = new ScriptedPlace();
    questions.join(place);
    const wish = new AbortController();
    const answer = questions.humanFor().confirm?.(question, { signal: wish.signal });
    wish.abort(new Error("the call is over"));
    await expect(answer).rejects.toThrow("the call is over");
    expect(place.withdrawn).toHaveLength(1);
  });
});
