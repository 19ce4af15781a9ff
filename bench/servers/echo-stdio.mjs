import { createAnswer } from "./echo-answers.mjs";
import { answerLines } from "./line-loop.mjs";

answerLines(createAnswer(JSON.parse(process.argv[2] ?? "{}")));
