import { describe, expect, it } from "vitest";

import { ownCommand } from "./own-command.ts";

describe("a command to copy", () => {
  it.each([
    ["files", "plugboard approve files --identity abc"],
    ["my files", "plugboard approve 'my files' --identity abc"],
    ["x; touch owned #", "plugboard approve 'x; touch owned #' --identity abc"],
    ["-rf", "plugboard approve --identity abc -- -rf"],
  ])("names the server %j", (name, text) => {
    expect(ownCommand("approve", name, ["--identity", "abc"])).toBe(text);
  });
});
