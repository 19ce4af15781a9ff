import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { deferred, type Deferred } from "../../tests/host/deferred.ts";
import { askPerson, QuestionTurns } from "./ask-person.ts";
import type { ConfirmAnswer } from "./human.ts";

const question = { kind: "tool-call", toolName: "any" } as const;

function askWithin(timeoutMs: number, signals: readonly AbortSignal[] = []) {
  const clock = new ManualClock();
  let shown: AbortSignal | undefined;
  let answer: (answer: ConfirmAnswer) => void = () => {};
  const human = {
    confirm: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<ConfirmAnswer>((resolve) => {
        shown = signal;
        answer = resolve;
      }),
  };
  const asked = askPerson(question, { human, clock, timeoutMs, signals });
  return {
    clock,
    asked,
    answer: (given: ConfirmAnswer) => answer(given),
    isTakenAway: () => shown?.aborted,
  };
}

describe("askPerson", () => {
  it("PRM-17: silence means no when the time is over", async () => {
    const { clock, asked, isTakenAway } = askWithin(1_000);
    await clock.advance(999);
    expect(isTakenAway()).toBe(false);
    await clock.advance(1);
    expect(await asked).toBe("no");
    expect(isTakenAway()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("without a limit a person may take as long as they want", async () => {
    const { clock, asked, answer } = askWithin(0);
    expect(clock.pending).toBe(0);
    await clock.advance(24 * 3_600_000);
    answer("once");
    expect(await asked).toBe("once");
  });

  it("a question that is answered is taken away, and its time no longer runs", async () => {
    const { clock, asked, answer, isTakenAway } = askWithin(1_000);
    expect(isTakenAway()).toBe(false);
    answer("once");
    expect(await asked).toBe("once");
    expect(isTakenAway()).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("PRM-17: a question that nobody waits for any more means no", async () => {
    const caller = new AbortController();
    const { asked, isTakenAway } = askWithin(0, [caller.signal]);
    caller.abort();
    expect(await asked).toBe("no");
    expect(isTakenAway()).toBe(true);
  });

  it("PRM-17: nobody to ask, and a surface that fails, mean no", async () => {
    const options = { clock: new ManualClock(), timeoutMs: 0, signals: [] };
    expect(await askPerson(question, { ...options, human: undefined })).toBe("no");
    expect(await askPerson(question, { ...options, human: {} })).toBe("no");
    const confirm = () => Promise.reject(new Error("no terminal"));
    expect(await askPerson(question, { ...options, human: { confirm } })).toBe("no");
  });
});

describe("QuestionTurns", () => {
  function scriptedTurns() {
    const turns = new QuestionTurns();
    const begun: string[] = [];
    const ends = new Map<string, Deferred<string>>();
    const ask = (key: string, name: string): Promise<string> => {
      const end = deferred<string>();
      ends.set(name, end);
      return turns.take(key, () => {
        begun.push(name);
        return end.promise;
      });
    };
    return { ask, begun, end: (name: string) => ends.get(name) };
  }

  it("ask about one server one after the other, and about others at the same time", async () => {
    const { ask, begun, end } = scriptedTurns();
    const first = ask("a", "first");
    const second = ask("a", "second");
    const other = ask("b", "other");
    end("other")?.resolve("yes");
    expect(await other).toBe("yes");
    expect(begun).toEqual(["first", "other"]);
    end("first")?.resolve("once");
    expect(await first).toBe("once");
    // Comes while the second is asked: the end of the first does not let it pass.
    const third = ask("a", "third");
    end("third")?.resolve("no");
    await Promise.race([third, new Promise((resolve) => setImmediate(resolve))]);
    expect(begun).toEqual(["first", "other", "second"]);
    end("second")?.resolve("no");
    await Promise.all([second, third]);
    expect(begun).toEqual(["first", "other", "second", "third"]);
  });

  it("go on after a question that failed", async () => {
    const turns = new QuestionTurns();
    const failed = turns.take("a", () => Promise.reject(new Error("gone")));
    const next = turns.take("a", () => Promise.resolve("yes"));
    await expect(failed).rejects.toThrow("gone");
    expect(await next).toBe("yes");
  });
});
