// Just enough of a web framework for the REST servers beside it: JSON in, JSON out.
import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";

export interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

/** From `METHOD /path` to what answers it; `body` is the JSON that was posted. */
export type Routes = Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => Reply>>;

export function createJsonServer(routes: Routes): Server {
  return createServer((request, response) => {
    const reply = ({ status = 200, body }: Reply): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) return reply({ status: 404, body: { error: "Not found" } });
    const posted = request.method === "POST" ? json(request) : Promise.resolve({});
    posted
      .then((body) => reply(route(body as Record<string, unknown>)))
      .catch(() => reply({ status: 400, body: { error: "Bad request" } }));
  });
}
