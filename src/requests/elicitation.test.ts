import { describe, expect, it } from "vitest";

import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import {
  answered,
  callOf,
  codeOf,
  form,
  openQuestions,
  person,
} from "../../tests/fixtures/requests/open-questions.ts";
import { defaultLimits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import type { ElicitAnswer, Human } from "../human/human.ts";

describe("a form", () => {
  it("is shown again with what is wrong, three times at most", async () => {
    const wrong = { action: "accept", content: { name: 7 } };
    const patient = person(wrong, answered);
    expect(await openQuestions({ human: patient.human }).ask("elicitation/create", form)).toEqual(
      answered,
    );
    expect(patient.asked[0]).not.toHaveProperty("problem");
    expect(patient.asked[1]).toMatchObject({
      problem: expect.stringContaining('"name"') as string,
    });
    const stubborn = person(wrong, wrong, wrong, answered);
    expect(await openQuestions({ human: stubborn.human }).ask("elicitation/create", form)).toEqual({
      action: "cancel",
    });
    expect(stubborn.asked).toHaveLength(3);
  });

  it.each([
    ["nothing", undefined],
    ["an unknown word", { action: "yes" }],
    ["a cancel with content", { action: "cancel", content: { name: "secret" } }],
  ])("is put away by %s", async (_, answer) => {
    const { ask } = openQuestions({ human: person(answer).human });
    expect(await ask("elicitation/create", form)).toEqual({ action: "cancel" });
  });

  it("is put away when asking fails", async () => {
    const failing: Human[] = [
      { elicit: () => Promise.reject(new Error("no terminal")) },
      {
        elicit: () => {
          throw new Error("no terminal");
        },
      },
    ];
    for (const human of failing)
      expect(await openQuestions({ human }).ask("elicitation/create", form)).toEqual({
        action: "cancel",
      });
  });

  it("is put away when nobody answers in time, and the person is told by the signal", async () => {
    let signal: AbortSignal | undefined;
    const { ask, clock, outcomes } = openQuestions({
      human: {
        elicit: (_, options) => {
          ({ signal } = options);
          return new Promise(() => undefined);
        },
      },
    });
    const answer = ask("elicitation/create", form);
    await clock.advance(defaultLimits.totalCallTimeoutMs - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await answer).toEqual({ action: "cancel" });
    expect(signal?.aborted).toBe(true);
    expect(outcomes()).toEqual(["cancelled"]);
    expect(clock.pending).toBe(0);
  });

  it("that is withdrawn rejects, whatever the person does afterwards", async () => {
    const opened: string[] = [];
    let say: (answer: ElicitAnswer) => void = () => undefined;
    const { ask, outcomes, clock } = openQuestions({
      human: {
        elicit: () =>
          new Promise((resolve) => {
            say = resolve;
          }),
        openUrl: async (url) => {
          opened.push(url);
        },
      },
    });
    const abort = new AbortController();
    const params = { mode: "url", message: "Sign in", url: "https://example.com" };
    const code = codeOf(ask("elicitation/create", params, { signal: abort.signal }));
    await settled();
    abort.abort(createError("cancelled", "no longer wanted"));
    expect(await code).toBe("cancelled");
    say({ action: "accept" });
    await settled();
    expect(opened).toEqual([]);
    expect(outcomes()).toEqual(["cancelled"]);
    expect(clock.pending).toBe(0);
  });

  it("that is withdrawn at once reaches nobody", async () => {
    const { human, asked } = person(answered);
    const withdrawn = createError("cancelled", "no longer wanted");
    const signal = AbortSignal.abort(withdrawn);
    const { ask } = openQuestions({ human });
    expect(await codeOf(ask("elicitation/create", form, { signal }))).toBe("cancelled");
    expect(asked).toEqual([]);
  });

  it("D8: its message is safe to show and bounded", async () => {
    const { human, asked } = person(answered);
    const message = `a\u001B[2Jb\n${"c".repeat(100_000)}`;
    await openQuestions({ human }).ask("elicitation/create", { ...form, message });
    expect(asked[0]?.message).toMatch(/^ab\nc+…$/);
    expect(asked[0]?.message).toHaveLength(4_000);
  });

  it("without a message is refused", async () => {
    const { ask } = openQuestions({ human: person(answered).human });
    expect(await codeOf(ask("elicitation/create", { ...form, message: 1 }))).toBe(
      "protocol_violation",
    );
  });
});

describe("an address", () => {
  const params = { mode: "url", message: "Sign in", url: "https://example.com/a" };

  it("E3: is opened after a yes only, and put away when that fails", async () => {
    const opened: string[] = [];
    const { human } = person({ action: "cancel" }, { action: "accept" }, { action: "accept" });
    const { ask } = openQuestions({
      human: {
        ...human,
        openUrl: async (url) => {
          opened.push(url);
          if (opened.length > 1) throw new Error("no browser");
        },
      },
    });
    expect(await ask("elicitation/create", params)).toEqual({ action: "cancel" });
    expect(opened).toEqual([]);
    expect(await ask("elicitation/create", params)).toEqual({ action: "accept" });
    expect(opened).toEqual(["https://example.com/a"]);
    expect(await ask("elicitation/create", params)).toEqual({ action: "cancel" });
  });

  it("E3: of a bad kind is refused before anybody is asked", async () => {
    const { human, asked } = person();
    const { ask } = openQuestions({ human: { ...human, openUrl: async () => undefined } });
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "--flag"])
      expect(await codeOf(ask("elicitation/create", { ...params, url }))).toBe(
        "protocol_violation",
      );
    expect(asked).toEqual([]);
  });

  it("is declined by a session that can fill in forms and open nothing", async () => {
    const { questions, ask } = openQuestions({
      human: { ...person().human, openUrl: async () => undefined },
    });
    const session = person({ action: "accept" });
    questions.introduce(session.human);
    expect(await ask("elicitation/create", params, { owner: callOf(session.human) })).toEqual({
      action: "decline",
    });
    expect(session.asked).toEqual([]);
  });
});
