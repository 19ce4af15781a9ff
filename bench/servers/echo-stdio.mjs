import { appendFileSync } from "node:fs";

import { createAnswer } from "./echo-answers.mjs";
import { answerLines } from "./line-loop.mjs";

const { startsFile, ...options } = JSON.parse(process.argv[2] ?? "{}");
if (startsFile !== undefined) appendFileSync(startsFile, ".");
answerLines(createAnswer(options));
