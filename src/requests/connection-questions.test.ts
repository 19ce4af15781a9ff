import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { QuestionBudget } from "./connection-questions.ts";

function ask(budget: QuestionBudget, times: number, owner?: object): void {
  for (let time = 0; time < times; time += 1) budget.begin(owner).end();
}

describe("how often a server may ask", () => {
  it("E1: 64 times in one call, however slowly", async () => {
    const clock = new ManualClock();
    const budget = new QuestionBudget("s", clock);
    const call = {};
    ask(budget, 64, call);
    await clock.advance(3_600_000);
    expect(() => budget.begin(call)).toThrow("more than 64 questions in one call");
    ask(budget, 64, {});
  });

  it("A16: 16 times on its own, and then once a minute", async () => {
    const clock = new ManualClock();
    const budget = new QuestionBudget("s", clock);
    ask(budget, 16);
    expect(() => budget.begin(undefined)).toThrow("belong to no call");
    await clock.advance(60_001);
    ask(budget, 1);
    expect(() => budget.begin(undefined)).toThrow("belong to no call");
    ask(budget, 1, {});
  });

  it("32 questions at once", () => {
    const budget = new QuestionBudget("s", new ManualClock());
    const open = Array.from({ length: 32 }, () => budget.begin({}));
    expect(() => budget.begin({})).toThrow("more than 32 questions at once");
    open[0]?.end();
    budget.begin({}).end();
  });
});
