import { callMissingTool, callReadOnlyTool, claimsReadOnly } from "../../call/contract-call.ts";
import type { RawToolResult } from "../../protocol/protocol-client.ts";
import { createValidator } from "../../schema/validate/validator.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import {
  type Answer,
  type ContractRun,
  counted,
  describeAnswer,
  fail,
  failedAnswer,
  type Judged,
  pass,
  skip,
  warn,
} from "./contract-run.ts";
import type { RawTool } from "./list-rules.ts";

/*
 * Which calls are made, `call/contract-call.ts` decides: of a tool that does not exist, and of tools that claim to be
 * read-only, with no arguments or with such as must be refused. Arguments that would be accepted are never made up.
 */

type Called = { readonly result: RawToolResult } | Exclude<Answer, { readonly result: JsonObject }>;

async function outcomeOf(call: Promise<RawToolResult>): Promise<Called> {
  try {
    return { result: await call };
  } catch (error) {
    return failedAnswer(error) as Called;
  }
}

async function callTool(run: ContractRun, tool: RawTool, args: JsonObject): Promise<Called> {
  const { timeoutMs, signal } = run;
  const client = await run.client();
  const named = { name: String(tool["name"]), annotations: annotationsOf(tool) };
  return await outcomeOf(callReadOnlyTool(client, named, args, { timeoutMs, signal }));
}

function annotationsOf({ annotations }: RawTool): JsonObject {
  return isJsonObject(annotations) ? annotations : {};
}

function isReadOnly(tool: RawTool): boolean {
  return claimsReadOnly({ annotations: annotationsOf(tool) });
}

/** What a result holds is nobody's business here: it may be a secret of this machine. An error is said to be read. */
function describeCall(called: Called): string {
  if (!("result" in called)) return describeAnswer(called);
  const { content, isError } = called.result;
  const [first] = content;
  if (isError)
    return `an error result: ${first?.type === "text" ? String(first["text"]) : "without text"}`;
  return `a result of ${counted(content.length, "block")}`;
}

export async function judgeUnknownTool(run: ContractRun): Promise<Judged> {
  const { capabilities } = await run.client();
  if (capabilities["tools"] === undefined) return skip("it declares no tools");
  const { timeoutMs, signal } = run;
  const called = await outcomeOf(callMissingTool(await run.client(), { timeoutMs, signal }));
  const evidence = describeCall(called);
  if ("error" in called) return pass(evidence);
  if (!("result" in called)) return fail(evidence);
  if (!called.result.isError) return fail(evidence);
  // REST services have no other way to say it.
  return run.config.transport.kind === "rest" ? pass(evidence) : warn(evidence);
}

export async function judgeInvalidArguments(
  run: ContractRun,
  tools: readonly RawTool[],
): Promise<Judged> {
  for (const tool of tools.filter(isReadOnly)) {
    const args = await forbiddenArguments(tool["inputSchema"]);
    if (args === undefined) continue;
    const called = await callTool(run, tool, args);
    const evidence = `${String(tool["name"])} ${JSON.stringify(args)}: ${describeCall(called)}`;
    if ("error" in called || ("result" in called && called.result.isError)) return pass(evidence);
    return fail(evidence);
  }
  return skip("no tool that claims to be read-only forbids any arguments");
}

export async function judgeReadOnlyCall(
  run: ContractRun,
  tools: readonly RawTool[],
): Promise<Judged> {
  for (const tool of tools.filter(isReadOnly)) {
    const { name, inputSchema, outputSchema } = tool;
    if ((await flawOf(inputSchema, {})) !== undefined) continue;
    const called = await callTool(run, tool, {});
    const evidence = `${String(name)} {}: ${describeCall(called)}`;
    if (!("result" in called)) return fail(evidence);
    if (called.result.isError) return warn(evidence);
    if (outputSchema === undefined) return pass(evidence);
    const { structuredContent } = called.result;
    if (structuredContent === undefined) return fail(`${String(name)} {}: no structured content`);
    const flaw = await flawOf(outputSchema, structuredContent);
    return flaw === undefined ? pass(evidence) : fail(`${String(name)} {}: ${flaw}`);
  }
  return skip("no tool that claims to be read-only can be called without arguments");
}

/** Arguments of a wrong shape: none where some are required, else a value of no type that is allowed. */
async function forbiddenArguments(schema: unknown): Promise<JsonObject | undefined> {
  if (!isJsonObject(schema)) return undefined;
  const { properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const candidates = [{}, ...names.map((name) => ({ [name]: [[null]] }))];
  for (const candidate of candidates)
    if ((await flawOf(schema, candidate)) !== undefined) return candidate;
  return undefined;
}

/** What a schema has against a value; undefined for a value that it takes, and where that cannot be told. */
async function flawOf(schema: unknown, value: unknown): Promise<string | undefined> {
  const failure = await createValidator(schema).validate(value);
  return failure?.kind === "invalid" ? failure.message : undefined;
}
