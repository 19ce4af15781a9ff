import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** An error as OAuth words it, to be answered as JSON or carried by a callback. */
export interface Refusal {
  readonly error: string;
  readonly description: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function refuse(
  error: string,
  description: string,
  status = 400,
  headers?: Readonly<Record<string, string>>,
): Refusal {
  return { error, description, status, headers };
}

export function isRefusal(value: object): value is Refusal {
  return "error" in value && "description" in value;
}

export function refusalResponse({ error, description, status, headers }: Refusal): Response {
  const body = { error, error_description: description };
  return Response.json(body, { status, headers: { ...uncached, ...headers } });
}

export const uncached = { "cache-control": "no-store", pragma: "no-cache" } as const;

/** One request that arrived, for assertions; nothing in it is masked. */
export interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A form or JSON as an object, anything else as text, nothing as undefined. */
  readonly body: unknown;
  /** How it was answered; undefined until then. */
  readonly status: number | undefined;
}

/** What arrived at one server, oldest first. */
export class ArrivedRequests {
  readonly #all: ArrivedRequest[] = [];

  get all(): readonly ArrivedRequest[] {
    return this.#all;
  }

  /** Keeps a request and, when it is there, the status of its answer. */
  async answer(
    request: Request,
    respond: (arrived: ArrivedRequest) => Response | Promise<Response>,
  ): Promise<Response> {
    const arrived = await recordRequest(request);
    const index = this.#all.push(arrived) - 1;
    const response = await respond(arrived);
    this.#all[index] = { ...arrived, status: response.status };
    return response;
  }
}

/** The request itself stays unread. */
async function recordRequest(request: Request): Promise<ArrivedRequest> {
  const { pathname, searchParams } = new URL(request.url);
  const text = request.body === null ? "" : await request.clone().text();
  return {
    method: request.method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(request.headers),
    body: text === "" ? undefined : decodeBody(text, request.headers.get("content-type")),
    status: undefined,
  };
}

export function isForm(headers: Readonly<Record<string, string>>): boolean {
  return headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
}

function decodeBody(text: string, contentType: string | null): unknown {
  if (contentType?.startsWith("application/x-www-form-urlencoded") === true)
    return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The members of a decoded body; none for text. */
export function membersOf({ body }: ArrivedRequest): JsonObject {
  return isJsonObject(body) ? body : {};
}

/** Parts of a space-separated list; an absent list has none. */
export function wordsOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(" ").filter((word) => word !== "");
}
