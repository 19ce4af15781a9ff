import type { Rule } from "./rule.ts";
import { answerRules } from "./rules/answer-rules.ts";
import { callRules } from "./rules/call-rules.ts";
import { connectionRules } from "./rules/connection-rules.ts";
import { handshakeRules } from "./rules/handshake-rules.ts";
import { listRules } from "./rules/list-rules.ts";
import { resultRules } from "./rules/result-rules.ts";

/** Every difference between the two clients that is known and meant, most specific first. */
export const rules: readonly Rule[] = [
  ...handshakeRules,
  ...answerRules,
  ...listRules,
  ...resultRules,
  ...callRules,
  ...connectionRules,
];
