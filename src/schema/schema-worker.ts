import { parentPort } from "node:worker_threads";

import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { loadPatternEngine } from "./linear-pattern.ts";
import { type CheckResult, runCheck } from "./run-check.ts";
import { examineSchema } from "./schema-guard.ts";

export interface SchemaJob {
  readonly id: number;
  readonly schemaText: string;
  readonly value: unknown;
}

export type SchemaWorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly id: number; readonly result: CheckResult };

const maxCompiled = 64;

const engine = await loadPatternEngine();
const compiled = new Map<string, CompiledSchema>();

parentPort?.on("message", ({ id, schemaText, value }: SchemaJob) => {
  const schema = compile(schemaText);
  // No budget of steps here: the host ends this thread when the time is up.
  const result = schema === undefined ? "too-costly" : runCheck(schema, value, Number.MAX_VALUE);
  post({ type: "done", id, result });
});
post({ type: "ready" });

function compile(schemaText: string): CompiledSchema | undefined {
  const known = compiled.get(schemaText);
  if (known !== undefined) return known;
  const { graph } = examineSchema(JSON.parse(schemaText));
  if (graph === undefined) return undefined;
  if (compiled.size >= maxCompiled) compiled.clear();
  const schema = compileSchema(graph, engine);
  compiled.set(schemaText, schema);
  return schema;
}

function post(message: SchemaWorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}
