import { answerPosts } from "./answer-posts.mjs";
import { createAnswer } from "./echo-answers.mjs";

const { needsToken, ...options } = JSON.parse(process.argv[2] ?? "{}");
const answer = createAnswer(options);
answerPosts({ answerAt: () => answer, needsToken });
