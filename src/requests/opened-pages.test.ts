import { describe, expect, it } from "vitest";

import { callOf, openQuestions, person } from "../../tests/fixtures/requests/open-questions.ts";
import type { Human } from "../human/human.ts";

const page = (elicitationId: unknown) => ({
  mode: "url",
  message: "Sign in",
  url: "https://example.com/sign-in",
  elicitationId,
});

const complete = (elicitationId: unknown) => ({
  method: "notifications/elicitation/complete",
  params: { elicitationId },
});

/** Somebody who opens every page, and remembers what they are told. */
function visitor() {
  const told: unknown[] = [];
  const human: Human = {
    elicit: async () => ({ action: "accept" }),
    openUrl: async () => undefined,
    notify: (notice) => told.push(notice),
  };
  return { human, told };
}

describe("a page that a server is done with", () => {
  it("PRO-21: is told once, to the one who was sent there", async () => {
    const host = visitor();
    const session = visitor();
    const { ask, heard } = openQuestions({ human: host.human });
    await ask("elicitation/create", page("p1"), { owner: callOf(session.human) });
    heard(complete("p1"));
    heard(complete("p1"));
    expect(session.told).toEqual([{ level: "info", text: "s: done with the page of example.com" }]);
    expect(host.told).toEqual([]);
  });

  it("PRO-21: that nobody was sent to is ignored", async () => {
    const { human, told } = visitor();
    const { ask, heard } = openQuestions({ human });
    await ask("elicitation/create", page(7));
    await ask("elicitation/create", page("x".repeat(300)));
    await ask("elicitation/create", page("known"));
    for (const id of ["unknown", 7, "x".repeat(300), undefined, null, {}]) heard(complete(id));
    heard({ method: "notifications/elicitation/complete" });
    heard({ ...complete("known"), method: "notifications/message" });
    expect(told).toEqual([]);

    const cautious = person({ action: "decline" });
    const notify: Human["notify"] = (notice) => told.push(notice);
    const other = openQuestions({
      human: { ...cautious.human, openUrl: async () => undefined, notify },
    });
    await other.ask("elicitation/create", page("declined"));
    other.heard(complete("declined"));
    expect(cautious.asked).toHaveLength(1);
    expect(told).toEqual([]);
  });

  it("of very many the oldest are forgotten, and a person who cannot be told does no harm", async () => {
    const { human, told } = visitor();
    const { ask, heard } = openQuestions({ human });
    for (let id = 0; id < 65; id += 1)
      await ask("elicitation/create", page(String(id)), { owner: callOf(human) });
    heard(complete("0"));
    expect(told).toEqual([]);
    heard(complete("1"));
    expect(told).toHaveLength(1);

    const notify = () => {
      throw new Error("no terminal");
    };
    for (const silent of [
      { ...human, notify },
      { ...human, notify: undefined },
    ] as Human[]) {
      const questions = openQuestions({ human: silent });
      await questions.ask("elicitation/create", page("p"));
      questions.heard(complete("p"));
    }
  });
});
