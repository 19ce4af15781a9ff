import { connectDeadlineMs, type ConnectionParts } from "../../connection/open-connection.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { ContractOptions, ContractReport, RuleResult } from "../contract-report.ts";
import { judgeInvalidArguments, judgeReadOnlyCall, judgeUnknownTool } from "./call-rules.ts";
import { ContractRun, fail, type Judged, pass, resultOf, skip } from "./contract-run.ts";
import {
  judgeIdentity,
  judgePing,
  judgeUnknownMethod,
  judgeUnknownNotification,
  judgeVersionNegotiation,
} from "./handshake-rules.ts";
import { judgeRest, judgeSse, judgeStreamableHttp } from "./http-rules.ts";
import { judgeDefinitions, listTools, type RawTool } from "./list-rules.ts";
import type { RuleId } from "./rule-texts.ts";
import { judgeProcess } from "./stdio-rules.ts";

const answerTimeoutMs = 10_000;

/**
 * Tries how a server keeps to the protocol, rule by rule. Starts it, some servers several times, and leaves nothing
 * open. Calls no tool that may change something, see `call-rules.ts`. Rejects with `cancelled` only: a server that
 * cannot be started breaks the first rule.
 */
export async function checkContract(
  parts: ConnectionParts,
  options: ContractOptions,
): Promise<ContractReport> {
  const { timeoutMs = answerTimeoutMs, signal, onResult } = options;
  const connectTimeoutMs =
    options.timeoutMs ?? connectDeadlineMs(parts.config, parts.limits, false);
  const run = new ContractRun(parts, { connectTimeoutMs, timeoutMs, signal });
  const rules: RuleResult[] = [];
  const note = (result: RuleResult): void => {
    if (signal?.aborted === true) throw createError("cancelled", "stopped half-way");
    rules.push(result);
    onResult?.(result);
  };
  const { name } = parts.config;
  const report = (protocolVersion: string | undefined): ContractReport => ({
    server: name,
    transport: run.config.transport.kind,
    protocolVersion,
    ok: !rules.some(({ verdict }) => verdict === "fail"),
    rules,
  });
  try {
    const opened = await handshake(run);
    note(opened.result);
    if (opened.result.verdict === "fail") return report(undefined);
    for await (const [rule, judged] of judgements(run)) note(resultOf(rule, judged, run.secrets));
    return report(opened.protocolVersion);
  } finally {
    await run.close();
  }
}

async function handshake(
  run: ContractRun,
): Promise<{ readonly result: RuleResult; readonly protocolVersion?: string | undefined }> {
  try {
    const { protocolVersion } = await run.client();
    // A REST service speaks no MCP: its transport answers for it.
    if (run.config.transport.kind === "rest")
      return { result: resultOf("handshake", skip("a REST service has none")) };
    return { result: resultOf("handshake", pass(`MCP ${protocolVersion}`)), protocolVersion };
  } catch (error) {
    if (!McpError.is(error) || error.code === "cancelled") throw error;
    return { result: { ...resultOf("handshake", fail(error.message)), code: error.code } };
  }
}

type Judgement = readonly [RuleId, Judged];

/** The rules that apply to this kind of server, in their order. */
async function* judgements(run: ContractRun): AsyncGenerator<Judgement> {
  const { kind } = run.config.transport;
  if (kind !== "rest") {
    yield await judge("identity", () => judgeIdentity(run));
    yield await judge("version-negotiation", () => judgeVersionNegotiation(run));
    yield await judge("ping", () => judgePing(run));
    yield await judge("unknown-method", () => judgeUnknownMethod(run));
    yield await judge("unknown-notification", () => judgeUnknownNotification(run));
  }
  let tools: readonly RawTool[] = [];
  yield await judge("list", async () => {
    const listed = await listTools(run);
    tools = listed.tools;
    return listed.judged;
  });
  yield* judgeDefinitions(tools);
  yield await judge("unknown-tool", () => judgeUnknownTool(run));
  yield await judge("invalid-arguments", () => judgeInvalidArguments(run, tools));
  yield await judge("read-only-call", () => judgeReadOnlyCall(run, tools));
  if (kind === "streamable-http") yield* judgeStreamableHttp(run);
  if (kind === "sse") yield* judgeSse(run);
  if (kind === "rest") yield* judgeRest(run);
  if (kind === "stdio") yield* judgeProcess(run);
}

/** A rule at which the server could not be started again is broken: it ended of what was sent before. */
async function judge(rule: RuleId, work: () => Promise<Judged>): Promise<Judgement> {
  try {
    return [rule, await work()];
  } catch (error) {
    if (McpError.is(error, "cancelled")) throw error;
    return [rule, fail(error instanceof Error ? error.message : String(error))];
  }
}
