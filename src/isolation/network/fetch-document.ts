import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

import type { Dispatcher } from "undici";

import type { ErrorCode } from "../../errors/error-codes.ts";
import { McpError, type McpErrorOptions } from "../../errors/mcp-error.ts";

export interface FetchedDocument {
  /** Where it was in the end. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface DocumentRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Of the answer's body, decoded. */
  readonly maxBytes: number;
  /** For the connection, for the headers, and for every pause in the body. */
  readonly idleTimeoutMs: number;
}

/** Makes an error about the server that is asked. */
export type Fail = (code: ErrorCode, problem: string, options?: McpErrorOptions) => McpError;

/** One request and its whole answer, redirects included; throws what `fail` makes. */
export async function fetchDocument(
  url: URL,
  request: DocumentRequest,
  pool: Dispatcher,
  fail: Fail,
): Promise<FetchedDocument> {
  const { maxBytes, idleTimeoutMs } = request;
  const tooLarge = fail("too_large", `sent more than ${maxBytes} bytes`, { details: { maxBytes } });
  const chunks: Buffer[] = [];
  let [bytes, status, isSent] = [0, 0, false];
  let headers: FetchedDocument["headers"] = {};
  await new Promise<void>((resolve, reject) => {
    pool.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: Object.entries(request.headers ?? {}).flat(),
        body: request.body ?? null,
        headersTimeout: idleTimeoutMs,
        bodyTimeout: idleTimeoutMs,
      },
      {
        onRequestStart: () => void (isSent = true),
        onResponseStart: (_controller, code, fields) => void ([status, headers] = [code, fields]),
        onResponseData(controller, chunk) {
          bytes += chunk.length;
          if (bytes > maxBytes) controller.abort(tooLarge);
          else chunks.push(chunk);
        },
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(failureOf(error, isSent, fail)),
      },
    );
  });
  const encoding = firstOf(headers["content-encoding"]) ?? "identity";
  try {
    const body = await decode(Buffer.concat(chunks), encoding.trim().toLowerCase(), maxBytes);
    return { url, status, headers, text: body.toString("utf8") };
  } catch (cause) {
    if (codeOf(cause) === "ERR_BUFFER_TOO_LARGE") throw tooLarge;
    throw fail("http_error", "sent a body that cannot be decoded", { cause });
  }
}

/** The first value of a header. */
export function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const decoders: Readonly<Record<string, typeof gunzip | typeof brotliDecompress>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

/** Nothing was offered, but servers compress all the same. Stops at `maxBytes`. */
async function decode(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (body.length === 0 || encoding === "identity" || encoding === "") return body;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder === undefined) throw new Error("unknown content encoding");
  return await promisify<Buffer, object, Buffer>(decoder)(body, { maxOutputLength: maxBytes });
}

/** Once a request may have left, nobody knows whether the server acted on it. */
function failureOf(cause: Error, isSent: boolean, fail: Fail): McpError {
  if (McpError.is(cause)) return cause;
  const errorCode = codeOf(cause);
  const options = { cause, details: errorCode === undefined ? {} : { errorCode } };
  if (errorCode === "UND_ERR_HEADERS_TIMEOUT" || errorCode === "UND_ERR_BODY_TIMEOUT")
    return fail("timeout", "stopped answering", options);
  if (errorCode === "UND_ERR_HEADERS_OVERFLOW")
    return fail("too_large", "sent headers that are too large", options);
  return isSent
    ? fail("connection_lost", "broke the connection before its answer was complete", options)
    : fail(
        "unreachable",
        `cannot be reached${errorCode === undefined ? "" : ` (${errorCode})`}`,
        options,
      );
}

function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}
