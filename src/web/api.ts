import { createError } from "../errors/families.ts";
import type { McpHost } from "../host/host.ts";
import type { ResidentGround } from "../host/resident/named-variables.ts";
import type { SharedQuestions } from "../host/resident/shared-questions.ts";
import { Attachments } from "./attachments.ts";
import { questionRoutes } from "./question-routes.ts";
import { createRouter } from "./routes.ts";
import { serverRoutes } from "./server-routes.ts";
import { sessionRoutes } from "./session-routes.ts";

export interface ApiOptions {
  readonly host: McpHost;
  /** The questions of the host, which attached processes may answer. */
  readonly questions: SharedQuestions;
  /** What a process has to share with the host to be attached to it. */
  readonly ground: ResidentGround;
}

export interface Api {
  /** Answers one request. Who may ask is for the listener to decide. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends every attachment. */
  close(): void;
}

/**
 * Everything that another process may ask of a host, as one function from requests to responses. The local socket
 * serves it to commands, REPLs and programs.
 */
export function createApi(options: ApiOptions): Api {
  const { host, questions } = options;
  const attachments = new Attachments({ host, questions });
  const fetch = createRouter([
    ...serverRoutes({ ...options, attachments }),
    ...sessionRoutes({ host, questions, attachments }),
    ...questionRoutes({ questions, attachments }),
  ]);
  return {
    fetch,
    close: () => attachments.close(createError("closed", "the host is closing")),
  };
}
