import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";

const width = 100;

const introduction = `
**Context.** Plugboard speaks the protocol with a core of its own instead of the official SDK's
\`Client\`. \`tests/oracle\` plays recorded, written and generated transcripts to both on the same
transport (in memory, over stdio and over HTTP, in both eras) and compares what each of them makes of
the server: results, errors, progress, notifications, and every message the server gets to see.

**Decision.** The two behave alike, except as listed here. A difference that no entry explains fails
the tests, and so does an entry that explains nothing any more. This page is written from the table
the tests use: \`npx vitest run tests/oracle --update\` brings it up to date.

**What is not compared.** The texts of errors other than the server's own; the reason given in
\`notifications/cancelled\`; the order of answers to the server; empty \`params\` and their absence;
members of a tool or result that neither client names.
`.trim();

const verdicts: Readonly<Record<Rule["right"], string>> = {
  core: "The core is right.",
  sdk: "The SDK is right.",
  either: "Both are defensible.",
};

/** The page in `docs/decisions` that says where our core and the SDK differ, and why. */
export function renderDecision(): string {
  const explained = rules.map(
    ({ id, difference, reason, right }) =>
      `### ${id}\n\n${wrap(difference)}\n\n${wrap(`${reason} ${verdicts[right]}`)}`,
  );
  const parts = [
    "# 4. Where the core differs from the SDK",
    introduction,
    "## Differences that are meant",
    ...explained,
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The paragraph in lines of a bearable length. */
function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}
