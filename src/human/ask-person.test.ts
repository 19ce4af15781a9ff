import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { askPerson } from "./ask-person.ts";
import type { ConfirmAnswer } from "./human.ts";

const question = { kind: "tool-call", toolName: "any" } as const;

function askWithin(timeoutMs: number) {
  const clock = new ManualClock();
  let answer: (answer: ConfirmAnswer) => void = () => {};
  const human = {
    confirm: () =>
      new Promise<ConfirmAnswer>((resolve) => {
        answer = resolve;
      }),
  };
  const asked = askPerson(question, { human, clock, timeoutMs, signals: [] });
  return { clock, asked, answer: (given: ConfirmAnswer) => answer(given) };
}

describe("askPerson", () => {
  it("PRM-17: silence means no when the time is over", async () => {
    const { clock, asked } = askWithin(1_000);
    await clock.advance(1_000);
    expect(await asked).toBe("no");
    expect(clock.pending).toBe(0);
  });

  it("without a limit a person may take as long as they want", async () => {
    const { clock, asked, answer } = askWithin(0);
    expect(clock.pending).toBe(0);
    await clock.advance(24 * 3_600_000);
    answer("once");
    expect(await asked).toBe("once");
  });
});
