import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { Limits } from "../config/limits.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { SchemaWorker } from "../schema/schema-worker-host.ts";
import { validateToolArguments } from "../schema/validate-tool-arguments.ts";
import type { ValidationFailure, Verdict } from "../schema/validation-failure.ts";
import { ValidatorCache } from "../schema/validator-cache.ts";
import type { ToolArguments } from "./call-path.ts";

/** Holds tools to their own schemas. Nothing is inspected or compiled before a tool is first used. */
export class ToolSchemas {
  readonly #worker: SchemaWorker;
  readonly #validators: ValidatorCache;

  constructor(limits: Limits) {
    this.#worker = new SchemaWorker({ timeoutMs: limits.schemaTimeoutMs });
    this.#validators = new ValidatorCache({ limits, offload: this.#worker });
  }

  /** Why the tool cannot be called at all, in plain words; undefined when it can. */
  refusal(tool: CatalogTool): string | undefined {
    const { report } = this.#validators.forSchema(tool.inputSchema);
    return report.kind === "refused" ? report.reason : undefined;
  }

  /** Whether arguments are judged without waiting, so that nobody can change them meanwhile. */
  checksAtOnce(tool: CatalogTool): boolean {
    return this.#validators.forSchema(tool.inputSchema).report.kind === "plain";
  }

  /** Throws, or rejects, with `invalid_arguments` or `schema_refused`; nothing has been sent then. */
  checkArguments(tool: CatalogTool, args: ToolArguments): void | Promise<void> {
    const verdict = validateToolArguments(tool.inputSchema, args, { validators: this.#validators });
    if (verdict instanceof Promise) return verdict.then((late) => refuse(tool, late));
    return refuse(tool, verdict);
  }

  /** What is wrong with a result; a tool that promises nothing cannot break its word. */
  checkResult(
    tool: CatalogTool,
    structured: unknown,
  ): McpError | undefined | Promise<McpError | undefined> {
    if (tool.outputSchema === undefined) return undefined;
    if (structured === undefined)
      return schemaError(tool, "invalid_result", {
        kind: "invalid",
        message: "the result lacks the structured content that the tool promises",
        problems: [],
      });
    const verdict = this.#validators.forSchema(tool.outputSchema).validate(structured);
    if (verdict instanceof Promise) return verdict.then((late) => brokenPromise(tool, late));
    return brokenPromise(tool, verdict);
  }

  close(): Promise<void> {
    return this.#worker.close();
  }
}

function refuse(tool: CatalogTool, verdict: Verdict): void {
  if (verdict === undefined) return;
  throw schemaError(
    tool,
    verdict.kind === "invalid" ? "invalid_arguments" : "schema_refused",
    verdict,
  );
}

function brokenPromise(tool: CatalogTool, verdict: Verdict): McpError | undefined {
  return verdict === undefined ? undefined : schemaError(tool, "invalid_result", verdict);
}

function schemaError(tool: CatalogTool, code: ErrorCode, failure: ValidationFailure): McpError {
  const { originalName: toolName, serverName } = tool;
  return createError(code, `${toolName}: ${failure.message}`, {
    serverName,
    details: { toolName, reason: failure.message, problems: failure.problems },
  });
}
