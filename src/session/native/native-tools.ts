import { setImmediate as nextTurn } from "node:timers/promises";

import type { NativeCallable, PerformCall, ToolArguments } from "../../call/call-contract.ts";
import type { ToolSchemas } from "../../call/tool-schemas.ts";
import type { StandardJsonSchema } from "../../schema/validate/standard-schema.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import {
  type HandlerInput,
  plainObject,
  readInputSchema,
  readOutputSchema,
  nativeToolError,
} from "./native-definition.ts";
import { nativeFailure, nativeResult } from "./native-result.ts";
import { CallContext, type ToolContext, type ToolContextParts } from "./tool-context.ts";

/** A tool that the program brings itself. Its calls take the same path as those of servers' tools. */
export interface NativeTool<Params = ToolArguments> {
  /** 1 to 64 letters, digits, `_` and `-`: what every model provider accepts. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  /**
   * JSON Schema, or a schema of a library that carries it as Standard JSON Schema does: zod 4.2 and newer,
   * ArkType, Valibot and others. Such a schema also gives the type of `params`.
   */
  readonly inputSchema: Readonly<Record<string, unknown>> | StandardJsonSchema<Params>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | StandardJsonSchema | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** The host's limit for calls by default; `0` means none. */
  readonly timeoutMs?: number | undefined;
  /** A person is asked first, unless the session's level is `yolo`. */
  readonly needsConsent?: boolean | undefined;
  /**
   * `params` have passed the schema and are frozen; where the schema of a library can check by itself, they
   * are what its check made of them, with defaults and transforms. Returns text, JSON, `{ content, structuredContent }`
   * or `{ message, value, success }`; what it throws fails the call.
   */
  handler(params: Params, call: { readonly context: ToolContext }): unknown;
}

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

  /** As it was defined: for a session that is to have it, too. */
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
