import { loadOnce } from "../async/load-once.ts";
import type { Limits } from "../config/keys/limits.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import {
  unchecked,
  type ValidationFailure,
  type Verdict,
} from "../schema/compile/validation-failure.ts";
import { SchemaReports } from "../schema/guard/schema-reports.ts";
import { SchemaWorker } from "../schema/validate/schema-worker-host.ts";
import type { validateToolArguments } from "../schema/validate/validate-tool-arguments.ts";
import type { ValidatorCache } from "../schema/validate/validator-cache.ts";
import { isJsonObject } from "../text/json-object.ts";
import type { CallableTool, ToolArguments } from "./call-contract.ts";

/** What compiles schemas and checks values by them, and the validators that were made so far. */
interface Validation {
  readonly validators: ValidatorCache;
  readonly validateToolArguments: typeof validateToolArguments;
}

/**
 * Validates arguments and results by the schemas of their tools. A schema is compiled at its first use, and
 * the compiler is loaded with the first connection: most tools that are known are not called.
 */
export class ToolSchemas {
  readonly #worker: SchemaWorker;
  readonly #reports: SchemaReports;
  /** Loads what `validateNow` needs: a call over an open connection is sent before anything else can happen. */
  readonly load: () => Promise<Validation>;
  #loaded: Validation | undefined;

  constructor(limits: Limits) {
    this.#worker = new SchemaWorker({ timeoutMs: limits.schemaTimeoutMs });
    this.#reports = new SchemaReports(limits);
    this.load = loadOnce(async () => {
      const [{ ValidatorCache }, { validateToolArguments }] = await Promise.all([
        import("../schema/validate/validator-cache.ts"),
        import("../schema/validate/validate-tool-arguments.ts"),
      ]);
      const validators = new ValidatorCache({ limits, offload: this.#worker });
      return (this.#loaded = { validators, validateToolArguments });
    });
  }

  /** Why the tool cannot be called at all, in plain words; undefined when it can. */
  refusal(tool: CallableTool): string | undefined {
    if (tool.refusal !== undefined) return tool.refusal;
    const report = this.#reports.of(tool.inputSchema);
    return report.kind === "refused" ? report.reason : undefined;
  }

  /** Validates arguments without waiting and throws for wrong ones; `false` when that is not possible. */
  validateNow(tool: CallableTool, args: ToolArguments): boolean {
    if (this.#loaded === undefined) return false;
    const verdict = validate(this.#loaded, tool, args);
    if (verdict instanceof Promise) return false;
    throwIfInvalid(tool, verdict);
    return true;
  }

  /** Rejects with `invalid_arguments` or `schema_refused`; nothing has been sent then. */
  async checkArguments(tool: CallableTool, args: ToolArguments): Promise<void> {
    throwIfInvalid(tool, await validate(this.#loaded ?? (await this.load()), tool, args));
  }

  /** The error of a result that breaks the tool's output schema; a tool without one may return anything. */
  checkResult(
    tool: CallableTool,
    structured: unknown,
  ): McpError | undefined | Promise<McpError | undefined> {
    if (tool.outputSchema === undefined) return undefined;
    if (structured === undefined)
      return schemaError(tool, "invalid_result", {
        kind: "invalid",
        message: "the result lacks the structured content that the tool promises",
        problems: [],
      });
    const { outputSchema } = tool;
    const verdict =
      this.#loaded === undefined
        ? this.load().then(({ validators }) =>
            validators.forSchema(outputSchema).validate(structured),
          )
        : this.#loaded.validators.forSchema(outputSchema).validate(structured);
    if (verdict instanceof Promise) return verdict.then((late) => resultError(tool, late));
    return resultError(tool, verdict);
  }

  close(): Promise<void> {
    return this.#worker.close();
  }
}

function validate(
  { validators, validateToolArguments }: Validation,
  { inputSchema, refusal }: CallableTool,
  args: ToolArguments,
): Verdict | Promise<Verdict> {
  if (refusal !== undefined) return unchecked(refusal);
  // The copy of a caller's arguments is plain JSON: that was checked when it was made.
  return isJsonObject(args)
    ? validators.forSchema(inputSchema).validate(args)
    : validateToolArguments(inputSchema, args, { validators });
}

function throwIfInvalid(tool: CallableTool, verdict: Verdict): void {
  if (verdict === undefined) return;
  throw schemaError(
    tool,
    verdict.kind === "invalid" ? "invalid_arguments" : "schema_refused",
    verdict,
  );
}

function resultError(tool: CallableTool, verdict: Verdict): McpError | undefined {
  return verdict === undefined ? undefined : schemaError(tool, "invalid_result", verdict);
}

export function schemaError(
  tool: Pick<CallableTool, "originalName" | "serverName">,
  code: ErrorCode,
  failure: ValidationFailure,
): McpError {
  const { originalName: toolName, serverName } = tool;
  return createError(code, `${toolName}: ${failure.message}`, {
    serverName,
    details: { toolName, reason: failure.message, problems: failure.problems },
  });
}
