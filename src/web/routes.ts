import { jsonResponse, errorResponse, notFound } from "./responses.ts";

/** What a handler of a route is given. */
export interface RouteCall {
  readonly request: Request;
  /** The values of the parts in braces of the route's path. */
  readonly params: Readonly<Record<string, string>>;
}

/** One request that the API answers. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `/api/servers/{name}`: a part in braces stands for any text without a slash. */
  readonly path: string;
  /** What it does, in one line. */
  readonly summary: string;
  readonly handle: (call: RouteCall) => Response | Promise<Response>;
}

/** Finds the route of a request and answers it. What a handler throws is told as JSON; nothing is thrown. */
export function createRouter(routes: readonly Route[]): (request: Request) => Promise<Response> {
  const matchers = routes.map((route) => ({ route, pattern: toPattern(route.path) }));
  return async (request) => {
    const { pathname } = new URL(request.url);
    const found = matchers.flatMap(({ route, pattern }) => {
      const groups = pattern.exec(pathname)?.groups;
      return groups === undefined ? [] : [{ route, groups }];
    });
    const match = found.find(({ route }) => route.method === request.method);
    if (match === undefined) {
      if (found.length === 0) return notFound("such address");
      return jsonResponse({ error: { message: `${request.method} is not possible here` } }, 405);
    }
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(match.groups)) {
      const text = decode(value);
      if (text === undefined) return notFound("such address");
      params[name] = text;
    }
    try {
      return await match.route.handle({ request, params });
    } catch (error) {
      return errorResponse(error);
    }
  };
}

/** Braces are the only thing in a path that is no plain text; a pattern always has groups, be it none. */
function toPattern(path: string): RegExp {
  const source = path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  return new RegExp(`^${source}(?<rest>)$`);
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
