import { createError } from "../errors/families.ts";
import type { McpHost, SessionOptions } from "../host/host.ts";
import type { SharedQuestions } from "../host/resident/shared-questions.ts";
import type { ContentListOptions } from "../session/content/session-content.ts";
import type { Session } from "../session/session.ts";
import { isJsonObject } from "../text/json-object.ts";
import type { Attachment } from "./attachment.ts";
import type { Attachments } from "./attachments.ts";
import { BodyReader } from "./request-values.ts";
import { jsonResponse, lineResponse, notFound, readBody } from "./responses.ts";
import type { Route, RouteCall } from "./routes.ts";

export interface SessionRoutesOptions {
  readonly host: McpHost;
  readonly questions: SharedQuestions;
  readonly attachments: Attachments;
}

const base = "/api/attachments/{attachment}/sessions";

/** What a handler of one session's routes is given. */
interface SessionCall {
  readonly session: Session;
  readonly attachment: Attachment;
  readonly body: BodyReader;
  /** Aborts when the request is given up, and when the process has gone. */
  readonly signal: AbortSignal;
  readonly params: RouteCall["params"];
}

/** Sessions of attached processes: what an agent there may see and call. */
export function sessionRoutes(options: SessionRoutesOptions): readonly Route[] {
  const { host, questions, attachments } = options;
  const calls = new Map<string, AbortController>();
  const within =
    (handle: (call: SessionCall) => Response | Promise<Response>): Route["handle"] =>
    async ({ request, params }) => {
      const attachment = attachments.get(params["attachment"] ?? "");
      const session = attachment.session(params["session"] ?? "");
      if (session === undefined) return notFound("such session");
      const body = new BodyReader(await readBody(request));
      const signal = AbortSignal.any([request.signal, attachment.ended]);
      return await handle({ session, attachment, body, signal, params });
    };
  return [
    {
      method: "POST",
      path: base,
      summary: "opens a session for an agent of this process",
      handle: async ({ request, params }) => {
        const attachment = attachments.get(params["attachment"] ?? "");
        const body = new BodyReader(await readBody(request));
        const asks = body.word("asks", ["everybody", "process", "nobody"]) ?? "process";
        const wish = {
          agent: body.optionalText("agent"),
          level: body.optionalText("level") as SessionOptions["level"],
          pending: body.optionalText("pending") as SessionOptions["pending"],
        };
        const id = attachment.openSession((opened) => {
          const humans = {
            everybody: questions.humanFor(attachment.askerOf(opened)),
            process: attachment.humanOf(opened),
            nobody: undefined,
          };
          const session = host.session({ ...wish, human: humans[asks] });
          if (body.flag("events") === true)
            session.on("*", (event) => attachment.event(event, opened));
          return session;
        });
        return jsonResponse({ session: id });
      },
    },
    {
      method: "DELETE",
      path: `${base}/{session}`,
      summary: "ends a session",
      handle: within(({ attachment, params }) => {
        attachment.removeSession(params["session"] ?? "");
        return jsonResponse({});
      }),
    },
    {
      method: "POST",
      path: `${base}/{session}/ready`,
      summary: "connects servers whose tools are not known; how far each is, and the tools",
      handle: within(async ({ session, body, signal }) => {
        const servers = await session.ready({ servers: body.texts("servers"), signal });
        return jsonResponse({ servers, visible: session.servers(), tools: session.tools() });
      }),
    },
    {
      method: "GET",
      path: `${base}/{session}/tools`,
      summary: "the tools that this agent may use, as they are known now",
      handle: within(({ session }) =>
        jsonResponse({ visible: session.servers(), tools: session.tools() }),
      ),
    },
    {
      method: "POST",
      path: `${base}/{session}/why`,
      summary: "why this agent may or may not call a tool, step by step",
      handle: within(({ session, body }) =>
        jsonResponse({ report: session.why(readTool(body.value("tool"))) }),
      ),
    },
    {
      method: "POST",
      path: `${base}/{session}/calls/{call}`,
      summary: "calls a tool; its progress, then its outcome",
      handle: within(({ session, body, signal, params }) => {
        const key = `${params["session"]} ${params["call"]}`;
        const wish = {
          tool: readTool(body.value("tool")),
          args: body.object("arguments") ?? {},
          timeoutMs: body.number("timeoutMs"),
          callId: body.optionalText("callId"),
        };
        return lineResponse(signal, async (write, gone) => {
          const cancelled = new AbortController();
          calls.set(key, cancelled);
          try {
            const outcome = await session.call(wish.tool, wish.args, {
              signal: AbortSignal.any([gone, cancelled.signal]),
              timeoutMs: wish.timeoutMs,
              callId: wish.callId,
              onProgress: (progress) => write({ progress }),
            });
            write({ outcome });
          } finally {
            calls.delete(key);
          }
        });
      }),
    },
    {
      method: "DELETE",
      path: `${base}/{session}/calls/{call}`,
      summary: "cancels a call, which still tells its outcome",
      handle: within(({ params }) => {
        const call = calls.get(`${params["session"]} ${params["call"]}`);
        call?.abort(createError("cancelled", "the caller cancelled it"));
        return jsonResponse({ isRunning: call !== undefined });
      }),
    },
    {
      method: "POST",
      path: `${base}/{session}/content/{what}`,
      summary: "lists or uses resources and prompts; lists of single servers, then the result",
      handle: within(({ session, body, signal, params }) =>
        lineResponse(signal, async (write, gone) => {
          const result = await useContent(session, params["what"] ?? "", {
            body,
            signal: gone,
            onList: (list) => write({ list }),
          });
          write({ result });
        }),
      ),
    },
  ];
}

function readTool(value: unknown): string | { readonly server: string; readonly tool: string } {
  if (typeof value === "string") return value;
  const { server, tool } = isJsonObject(value) ? value : {};
  if (typeof server === "string" && typeof tool === "string") return { server, tool };
  throw createError("invalid_arguments", '"tool" must be a string or { server, tool }');
}

interface ContentUse {
  readonly body: BodyReader;
  readonly signal: AbortSignal;
  readonly onList: (list: object) => void;
}

async function useContent(
  { content }: Session,
  what: string,
  { body, signal, onList }: ContentUse,
): Promise<unknown> {
  const limits = { timeoutMs: body.number("timeoutMs"), signal };
  const listing: ContentListOptions<unknown> = {
    ...limits,
    server: body.optionalText("server"),
    onList,
  };
  switch (what) {
    case "resources":
      return listOf(await content.resources(listing));
    case "resource-templates":
      return listOf(await content.resourceTemplates(listing));
    case "prompts":
      return listOf(await content.prompts(listing));
    case "read":
      return await content.readResource(body.text("server"), body.text("uri"), limits);
    case "prompt": {
      const args = (body.object("arguments") ?? {}) as Readonly<Record<string, string>>;
      return await content.prompt(body.text("server"), body.text("name"), args, limits);
    }
    case "complete":
      return await content.complete(
        body.text("server"),
        (body.object("question") ?? {}) as unknown as Parameters<typeof content.complete>[1],
        limits,
      );
    default:
      throw createError("invalid_arguments", `there is no content called "${what.slice(0, 40)}"`);
  }
}

/** A list with a member of its own, which JSON would leave out. */
function listOf(list: readonly unknown[] & { readonly missing: unknown }): object {
  return { items: list, missing: list.missing };
}
