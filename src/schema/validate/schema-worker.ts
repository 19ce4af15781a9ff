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

// No `await` at the top: the build makes a script of this, not a module.
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
  // No budget of steps here: the host ends this thread when the time is up.
  return runCheck(schema, value, Number.MAX_VALUE);
}

function post(message: SchemaWorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}
