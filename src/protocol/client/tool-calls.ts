import { untilAborted } from "../../async/until-aborted.ts";
import type { Limits } from "../../config/keys/limits.ts";
import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { maskSecrets } from "../../text/secrets/mask-secrets.ts";
import type { ReadResult, RpcRequestOptions } from "../channel/pending-requests.ts";
import type {
  RawToolResult,
  RequestOptions,
  ToolCallOptions,
  ToolListing,
} from "../protocol-client.ts";
import { checkToolPage, checkToolResult } from "./checked-results.ts";
import { collectPages } from "./collect-pages.ts";
import { MaskedTools } from "./masked-tools.ts";
import { areSameHeaders, isHeaderMismatch, ParameterHeaders } from "./parameter-headers.ts";
import type { RequestPath } from "./request-path.ts";

export interface ToolCallsOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  /** Members of `_meta` of every message, in the modern era. */
  readonly envelope: JsonObject | undefined;
  /** True when arguments are repeated in headers where a tool declares it. */
  readonly hasHeaders: boolean;
  /** Credentials of the server's entry, to be masked where it writes them into its list or into an error. */
  readonly credentials: readonly string[] | undefined;
  /** Any request, answered from the cache where that is allowed. */
  readonly request: (
    method: string,
    params: JsonObject,
    options: RequestOptions,
  ) => Promise<JsonObject>;
}

/** Lists and calls the tools of one server. */
export class ToolCalls {
  readonly #path: RequestPath;
  readonly #options: ToolCallsOptions;
  readonly #headers: ParameterHeaders | undefined;
  readonly #masks: MaskedTools | undefined;
  readonly #readResult: ReadResult<RawToolResult>;
  readonly #paramsText: ToolParamsText;
  #relisting: Promise<unknown> | undefined;

  constructor(path: RequestPath, options: ToolCallsOptions) {
    this.#path = path;
    this.#options = options;
    this.#headers = options.hasHeaders ? new ParameterHeaders() : undefined;
    this.#paramsText = new ToolParamsText(options.envelope);
    const masks = MaskedTools.for(options.credentials);
    this.#masks = masks;
    this.#readResult = path.reader((result, { method, params, raw }) => {
      const sent = params["name"] as string;
      const name = masks === undefined ? sent : masks.maskedName(sent);
      const checked = checkToolResult(result, name, path.exchange(method), raw);
      // Servers repeat what they sent to a service in the error that they got for it.
      return checked.isError ? maskSecrets(checked, options.credentials ?? []) : checked;
    });
  }

  async list(options?: RequestOptions): Promise<ToolListing> {
    const { limits, clock, request } = this.#options;
    const exchange = this.#path.exchange("tools/list");
    const headers = this.#headers;
    const problemOf = headers && ((tool: JsonObject) => headers.problemOf(tool));
    const { items, ...rest } = await collectPages(
      {
        request: (params, pageOptions) => request("tools/list", params, pageOptions),
        read: (result, maxEntries) =>
          checkToolPage(result, exchange, { problemOf, maxEntries, limits }),
        limits,
        clock,
      },
      options,
    );
    headers?.learn(items);
    const listing = { tools: items, ...rest };
    return this.#masks === undefined ? listing : await this.#masks.mask(listing);
  }

  call(tool: string, args: JsonObject, options: ToolCallOptions): Promise<RawToolResult> {
    const name = this.#masks === undefined ? tool : this.#masks.nameOnWire(tool);
    return this.#headers === undefined
      ? this.#send(name, args, options)
      : this.#sendWithHeaders(this.#headers, { name, args, options });
  }

  #send(
    name: string,
    args: JsonObject,
    options: ToolCallOptions & RpcRequestOptions,
  ): Promise<RawToolResult> {
    const { envelope } = this.#options;
    // Not spread later: a copy with one more member costs more than all the rest of a call.
    const params =
      envelope === undefined
        ? { name, arguments: args }
        : { name, arguments: args, _meta: envelope };
    const { argumentsText } = options;
    const paramsText =
      argumentsText === undefined ? undefined : this.#paramsText.of(name, argumentsText);
    const request = { method: "tools/call", params, options, paramsText };
    return this.#path.send(request, this.#readResult);
  }

  /** A server that expects other headers refuses a call unread: then it is sent again, once, with those. */
  async #sendWithHeaders(
    headers: ParameterHeaders,
    call: { readonly name: string; readonly args: JsonObject; readonly options: ToolCallOptions },
  ): Promise<RawToolResult> {
    const { name, args, options } = call;
    const { argumentsText } = options;
    const sent = headers.of(name, args);
    try {
      return await this.#send(name, args, sent ? { ...options, headers: sent } : options);
    } catch (error) {
      if (!isHeaderMismatch(error)) throw error;
      // The caller's own object may have changed since.
      const asSent = argumentsText === undefined ? args : (JSON.parse(argumentsText) as JsonObject);
      await this.#relist(options.signal).catch(() => undefined);
      const expected = headers.of(name, asSent);
      // An aborted call goes on to be reported as such.
      if (options.signal?.aborted !== true && areSameHeaders(sent, expected)) throw error;
      return await this.#send(name, asSent, { ...options, headers: expected });
    }
  }

  /** Calls that fail together fetch the list together. */
  #relist(signal: AbortSignal | undefined): Promise<unknown> {
    this.#relisting ??= this.list({ fresh: true }).finally(() => {
      this.#relisting = undefined;
    });
    return signal === undefined ? this.#relisting : untilAborted(this.#relisting, signal);
  }
}

/** Writes the JSON of `tools/call` params around that of the arguments, which is known already. */
export class ToolParamsText {
  /** The text behind the arguments, which is the same for all calls. */
  readonly #end: string;
  /** The text in front of them, kept because one tool is often called many times in a row. */
  #begin = "";
  #beginOf: string | undefined;

  constructor(envelope: JsonObject | undefined) {
    this.#end = envelope === undefined ? "}" : `,"_meta":${JSON.stringify(envelope)}}`;
  }

  of(name: string, argumentsText: string): string {
    if (name !== this.#beginOf) {
      this.#begin = `{"name":${JSON.stringify(name)},"arguments":`;
      this.#beginOf = name;
    }
    return `${this.#begin}${argumentsText}${this.#end}`;
  }
}
