import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { EventBus } from "../events/event-bus.ts";
import { silentLogger } from "../ports/logger.ts";
import { logWarnings } from "./log-warnings.ts";

function scene() {
  const lines: string[] = [];
  const texts: string[] = [];
  const events = new EventBus();
  const clock = new ManualClock();
  const write = (message: string, fields: object = {}): void =>
    void lines.push([...Object.values(fields), message].join(": "));
  const logger = { ...silentLogger, warn: write, error: write };
  events.on("warning", ({ text }) => void texts.push(text));
  const warnings = logWarnings(logger, events, clock);
  const warn = (serverName: string, text: string): void =>
    events.emit({ type: "warning", serverName, text, at: clock.now() });
  return { lines, texts, clock, warn, ...warnings };
}

describe("logWarnings", () => {
  it("tells the logger of each warning once, until the host ends", () => {
    const { lines, texts, warn, background, end } = scene();
    warn("files", "one");
    background.error("two", { error: "Error: why" });
    end();
    warn("files", "three");
    background.error("four");
    expect(lines).toEqual(["files: one", "Error: why: two", "four"]);
    expect(texts).toEqual(["one", "two: why", "three", "four"]);
  });

  it("bounds what one server can write into the log, and no other loses anything by it", async () => {
    const { lines, texts, clock, warn } = scene();
    const flood = (): void => {
      for (let count = 0; count < 1_000; count += 1) warn("loud", `${count}`);
    };
    flood();
    warn("calm", "heard");
    expect(lines).toHaveLength(22);
    expect(lines.slice(-2)).toEqual([
      "loud: further warnings of this minute are `warning` events only",
      "calm: heard",
    ]);
    await clock.advance(60_000);
    flood();
    expect(lines).toHaveLength(43);
    expect(texts).toHaveLength(2_001);
  });
});
