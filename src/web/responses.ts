import { createError } from "../errors/families.ts";
import { McpError, type McpErrorJson } from "../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";

const headers = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
} as const;
const lineHeaders = { ...headers, "content-type": "application/x-ndjson; charset=utf-8" } as const;

export function jsonResponse(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers });
}

/** Errors that are the fault of the request; everything else that can be expected is a 409. */
const statuses: Partial<Record<McpErrorJson["code"], number>> = {
  invalid_arguments: 400,
  config_invalid: 400,
  server_unknown: 404,
  tool_unknown: 404,
};

/** What went wrong, as an error of the closed table; nothing else leaves the process. */
export function errorResponse(error: unknown): Response {
  const known = asMcpError(error);
  return jsonResponse({ error: known }, statuses[known.code] ?? 409);
}

export function notFound(what: string): Response {
  return jsonResponse({ error: createError("invalid_arguments", `there is no ${what}`) }, 404);
}

function asMcpError(error: unknown): McpError {
  if (McpError.is(error)) return error;
  return createError("protocol_violation", "the host failed in a way it does not know", {
    cause: error,
  });
}

/** The body of a request; an empty one is an empty object. Throws `invalid_arguments` for anything but an object. */
export async function readBody(request: Request): Promise<JsonObject> {
  const text = await request.text();
  if (text === "") return {};
  const value: unknown = parse(text);
  if (!isJsonObject(value))
    throw createError("invalid_arguments", "the body of the request is no JSON object");
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The bytes that may wait for a reader; one that does not read, such as a stopped process, counts as gone after that. */
const maxWaitingBytes = 16 * 1_024 * 1_024;

/** Writes one line of JSON; nothing once the reader has gone. */
export type WriteLine = (line: object) => void;

/**
 * An answer in lines of JSON. `work` writes them, and the answer ends when it is done; what it throws is the last
 * line. `signal` aborts when the reader goes.
 */
export function lineResponse(
  signal: AbortSignal,
  work: (write: WriteLine, signal: AbortSignal) => Promise<void>,
): Response {
  const gone = new AbortController();
  const leave = (): void => gone.abort(createError("cancelled", "whoever asked for it has gone"));
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  const encoder = new TextEncoder();
  const source = {
    start: (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      const write: WriteLine = (line) => {
        if (gone.signal.aborted) return;
        if ((controller.desiredSize ?? 0) > 0)
          controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        else {
          leave();
          controller.error(new RangeError("nobody reads the answer"));
        }
      };
      const finish = (): void => {
        signal.removeEventListener("abort", leave);
        if (!gone.signal.aborted) controller.close();
      };
      work(write, gone.signal).then(finish, (error: unknown) => {
        write({ error: asMcpError(error) });
        finish();
      });
    },
    cancel: leave,
  };
  const waiting = new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes });
  const body = new ReadableStream<Uint8Array>(source, waiting);
  return new Response(body, { headers: lineHeaders });
}
