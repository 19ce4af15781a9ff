import { setImmediate as nextTurn } from "node:timers/promises";

import type { NativeCallable, PerformCall } from "../../call/call-contract.ts";
import type { ToolSchemas } from "../../call/tool-schemas.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import {
  type HandlerInput,
  type NativeTool,
  plainObject,
  readInputSchema,
  readOutputSchema,
  nativeToolError,
} from "./native-definition.ts";
import { nativeFailure, nativeResult } from "./native-result.ts";
import { CallContext, type ToolContextParts } from "./tool-context.ts";

export interface NativeToolsParts {
  readonly schemas: ToolSchemas;
  readonly handlers: HandlerRuns;
  readonly context: () => ToolContextParts;
}

interface DefinedTool {
  readonly definition: NativeTool;
  readonly tool: NativeCallable;
}

const validName = /^[A-Za-z0-9_-]{1,64}$/;

/** The native tools of one session, in the order of their definition. */
export class NativeTools {
  readonly #parts: NativeToolsParts;
  readonly #tools = new Map<string, DefinedTool>();

  constructor(parts: NativeToolsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#tools.size;
  }

  names(): Iterable<string> {
    return this.#tools.keys();
  }

  all(): readonly NativeCallable[] {
    return [...this.#tools.values()].map(({ tool }) => tool);
  }

  find(name: string): NativeCallable | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** Returns the tool as it was defined, for a child session that is to have it. */
  definition(name: string): NativeTool | undefined {
    return this.#tools.get(name)?.definition;
  }

  /** Throws `config_invalid` for a definition that could not be called. */
  define(definition: NativeTool): NativeCallable {
    const { name } = definition;
    if (typeof name !== "string" || !validName.test(name))
      throw nativeToolError(name, "has a name that model providers do not accept", {
        hint: "use 1 to 64 letters, digits, _ and -",
      });
    // Programs without types define tools, too.
    if (typeof definition.description !== "string")
      throw nativeToolError(name, "has no description");
    if (typeof definition.handler !== "function") throw nativeToolError(name, "has no handler");
    if (this.#tools.has(name)) throw nativeToolError(name, "is defined already");
    const tool = this.#callable(definition);
    const unusable = this.#parts.schemas.refusal(tool);
    if (unusable !== undefined)
      throw nativeToolError(name, `has a schema that cannot be used: ${unusable}`);
    this.#tools.set(name, { definition, tool });
    return tool;
  }

  #callable(definition: NativeTool): NativeCallable {
    const { name, title, description, timeoutMs } = definition;
    const { inputSchema, accept } = readInputSchema(definition);
    return Object.freeze({
      serverName: undefined,
      originalName: name,
      title,
      description,
      inputSchema,
      outputSchema: readOutputSchema(definition),
      annotations: plainObject(definition.annotations ?? {}, name, "annotations"),
      icons: undefined,
      meta: undefined,
      isLive: true,
      timeoutMs,
      needsConsent: definition.needsConsent === true,
      perform: async (params, call) => {
        const { handlers } = this.#parts;
        try {
          const returned = await handlers.run(
            (stop) => this.#handle(definition, { params, accept }, call, stop),
            {
              toolName: name,
              signal: call.signal,
              timeoutMs: call.timeoutMs,
            },
          );
          return nativeResult(returned, name);
        } catch (error) {
          throw nativeFailure(error, name);
        }
      },
    } satisfies NativeCallable);
  }

  async #handle(
    definition: NativeTool,
    { params, accept }: HandlerInput,
    call: PerformCall,
    stop: AbortSignal,
  ): Promise<unknown> {
    const context = new CallContext(this.#parts.context(), call, stop);
    const end = (): void => context.end();
    stop.addEventListener("abort", end, { once: true });
    try {
      // Tools that call each other do so without ever waiting: no deadline would come true meanwhile.
      if (context.isNested) await nextTurn();
      const accepted = accept === undefined ? params : await accept(params);
      stop.throwIfAborted();
      call.begin();
      return await definition.handler(accepted, { context });
    } finally {
      end();
    }
  }
}
