import type { McpError } from "../errors/mcp-error.ts";

/** A request as far as it decides who may be shown a token. */
export interface AuthorizedRequest {
  readonly method: string;
  readonly url: URL;
  /** Whether it was refused before and is sent once more. */
  readonly isRepeated: boolean;
}

/** The refusal of a request: status 401 or 403, and what came with it. */
export interface Refusal {
  readonly status: number;
  /** The headers `WWW-Authenticate`. */
  readonly challenge: string | readonly string[] | undefined;
  /** The header `DPoP-Nonce`. */
  readonly dpopNonce: string | undefined;
  /** The fields that the request was sent with: the very array that `fieldsFor` gave. */
  readonly fields: readonly string[];
  /** How often the request was sent `again` before. */
  readonly repeats: number;
}

/**
 * What to do about a refusal. `again`: send the request once more; it was refused for its own sake, so that this is
 * counted. `next`: send it with the token that there is now; the one it had was at an end, or replaced meanwhile.
 */
export type RefusalVerdict = McpError | "again" | "next";

/** Shows a server who is calling, request by request. */
export interface RequestAuthorization {
  /**
   * Gives the header fields of a request, names and values in turn. A promise only where a token has to be renewed or
   * a proof to be signed first; it rejects with an `McpError` when the request must not be sent.
   */
  fieldsFor(request: AuthorizedRequest): readonly string[] | Promise<readonly string[]>;
  /** Says what to do about a refusal: to send the request once more, or the error to end it with. Never rejects. */
  refused(refusal: Refusal): Promise<RefusalVerdict>;
  /** Notes that a request with these fields was let in. */
  accepted(fields: readonly string[]): void;
  /** Keeps `secrets` filled with every token that is sent, until the returned function is called. */
  follow(secrets: string[]): () => void;
}
