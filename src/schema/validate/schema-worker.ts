import { parentPort } from "node:worker_threads";

import { type CompiledSchema, compileSchema } from "../compile/compile-schema.ts";
import { loadPatternEngine, type PatternEngine } from "../compile/linear-pattern.ts";
import { unusableSchema } from "../compile/validation-failure.ts";
import { examineSchema } from "../guard/schema-guard.ts";
import { type CheckResult, runCheck } from "./run-check.ts";

export interface SchemaJob {
  readonly id: number;
  readonly schemaText: string;
  readonly value: unknown;
}

export type SchemaWorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly id: number; readonly result: CheckResult };

const maxCompiled = 64;

const compiled = new Map<string, CompiledSchema>();

// The build makes a script of this file, not a module, so there is no top-level `await`.
void loadPatternEngine().then((engine) => {
  parentPort?.on("message", ({ id, schemaText, value }: SchemaJob) => {
    post({ type: "done", id, result: check(schemaText, value, engine) });
  });
  post({ type: "ready" });
});

function check(schemaText: string, value: unknown, engine: PatternEngine): CheckResult {
  let schema = compiled.get(schemaText);
  if (schema === undefined) {
    const { report, graph } = examineSchema(JSON.parse(schemaText));
    if (graph === undefined) return { verdict: unusableSchema(report.reason) };
    if (compiled.size >= maxCompiled) compiled.clear();
    schema = compileSchema(graph, engine);
    compiled.set(schemaText, schema);
  }
  // The host kills this thread at the deadline, so the check has no budget of steps.
  return runCheck(schema, value, Number.MAX_VALUE);
}

function post(message: SchemaWorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}
