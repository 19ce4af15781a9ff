import type { ConnectOptions, McpHost, ServerStatus } from "../host/host.ts";
import type { ResidentGround } from "../host/resident/named-variables.ts";
import type { Attachments } from "./attachments.ts";
import { BodyReader } from "./request-values.ts";
import { jsonResponse, lineResponse, readBody } from "./responses.ts";
import type { Route, RouteCall } from "./routes.ts";

export interface ServerRoutesOptions {
  readonly host: McpHost;
  readonly ground: ResidentGround;
  readonly attachments: Attachments;
}

/** Servers: what there is, and how it is connected. */
export function serverRoutes(options: ServerRoutesOptions): readonly Route[] {
  const { host, ground, attachments } = options;
  const claimed = async (
    call: RouteCall,
    open: (name: string, options: ConnectOptions) => Promise<ServerStatus>,
  ): Promise<Response> => {
    const body = new BodyReader(await readBody(call.request));
    const { name = "" } = call.params;
    const owner = body.optionalText("owner");
    const wish = {
      owner,
      shared: body.flag("shared"),
      // The host refuses words it does not know.
      mode: body.optionalText("mode") as ConnectOptions["mode"],
      timeoutMs: body.number("timeoutMs"),
    };
    const attachment = attachments.get(body.text("attachment"));
    return lineResponse(call.request.signal, async (write, signal) => {
      const status = await open(name, {
        ...wish,
        signal,
        onPhase: (phase) => write({ phase }),
      });
      if (owner !== undefined) attachment.noteClaim(name, owner);
      write({ status: statusOf(status) });
    });
  };
  return [
    {
      method: "GET",
      path: "/api/ground",
      summary: "what a process must have in common with the host to be attached to it",
      handle: () => jsonResponse({ variables: ground.variables(host.servers()) }),
    },
    {
      method: "POST",
      path: "/api/attachments",
      summary: "attaches a process for as long as it reads the answer",
      handle: async ({ request }) => {
        const body = new BodyReader(await readBody(request));
        if (!ground.isSame(host.servers(), body.text("environment")))
          return jsonResponse({ refused: "variables that its entries name differ" }, 409);
        const wish = {
          isSurface: body.flag("surface") ?? false,
          wantsEvents: body.flag("events") ?? false,
        };
        // Files that were changed a moment ago count for whoever asks now.
        await host.reload();
        return lineResponse(request.signal, (write, signal) =>
          attachments.keep(wish, write, signal),
        );
      },
    },
    {
      method: "POST",
      path: "/api/reload",
      summary: "reads the configuration again",
      handle: async () => {
        await host.reload();
        return jsonResponse({});
      },
    },
    {
      method: "GET",
      path: "/api/servers",
      summary: "every server with its state, and what is wrong with the configuration",
      handle: () =>
        jsonResponse({ servers: host.servers().map(statusOf), problems: host.configProblems }),
    },
    {
      method: "GET",
      path: "/api/last-seen",
      summary:
        "every server; one that is idle shows the failure of its last attempt, in any process",
      handle: async () => jsonResponse({ servers: await host.serversAsLastSeen() }),
    },
    {
      method: "POST",
      path: "/api/servers/{name}/connect",
      summary: "connects a server; the phases of its start, then its status",
      handle: (call) => claimed(call, (name, wish) => host.connect(name, wish)),
    },
    {
      method: "POST",
      path: "/api/servers/{name}/reconnect",
      summary: "ends the connection and connects again",
      handle: (call) => claimed(call, (name, wish) => host.reconnect(name, wish)),
    },
    {
      method: "POST",
      path: "/api/servers/{name}/disconnect",
      summary: "ends the connection, of one owner or of all",
      handle: async ({ request, params: { name = "" } }) => {
        const owner = new BodyReader(await readBody(request)).optionalText("owner");
        await host.disconnect(name, { owner });
        return jsonResponse({});
      },
    },
    {
      method: "GET",
      path: "/api/servers/{name}/approval",
      summary: "what approving a server would start; null when it needs no approval",
      handle: async ({ params: { name = "" } }) =>
        jsonResponse({ launch: (await host.approvalQuestion(name)) ?? null }),
    },
    {
      method: "POST",
      path: "/api/servers/{name}/approval",
      summary: "approves exactly the launch that was shown",
      handle: async ({ request, params: { name = "" } }) => {
        const body = new BodyReader(await readBody(request));
        await host.approve(name, { launchId: body.text("launchId"), by: body.optionalText("by") });
        return jsonResponse({});
      },
    },
    {
      method: "POST",
      path: "/api/servers/{name}/types",
      summary: "TypeScript types and a typed client for its tools",
      handle: async ({ request, params: { name = "" } }) => {
        const timeoutMs = new BodyReader(await readBody(request)).number("timeoutMs");
        const source = await host.emitTypes(name, { timeoutMs, signal: request.signal });
        return jsonResponse({ source });
      },
    },
  ];
}

/** The status with its configuration as it is, secrets masked; the JSON of a configuration alone would be an entry. */
function statusOf(status: ServerStatus): object {
  return { ...status, config: { ...status.config } };
}
