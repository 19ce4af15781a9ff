import { createHash, timingSafeEqual } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";

import type { FetchHandler } from "./body-cap.ts";
import { HttpListener } from "./http-listener.ts";
import { defaultListenerLimits } from "./listener-limits.ts";
import type { Refusal } from "./request-gate.ts";

export interface PrivateSocketOptions {
  readonly fetch: FetchHandler;
  /** A path in a folder that only the user can enter, or a named pipe of Windows. Whatever lies there is replaced. */
  readonly path: string;
  /** What every request has to bring along as `Authorization: Bearer …`. */
  readonly token: string;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface PrivateSocket {
  /** As `HttpListener.close`; the path is gone afterwards. */
  close(): Promise<void>;
}

/** Whoever comes in has the token, so what is sent may be as large as the arguments of a call. */
const limits = {
  ...defaultListenerLimits,
  maxBodyBytes: 16 * 1_024 * 1_024,
  maxConnectionsPerAddress: defaultListenerLimits.maxConnections,
  // A process that is attached may be silent for as long as it likes.
  requestTimeoutMs: 0,
} as const;

/**
 * Listens on a local socket for other processes of the same user. Node cannot tell who is at the other end of a
 * socket, so there are two fences: the folder, which nobody else can enter, and a token, which nobody else can read.
 */
export async function listenOnSocket(options: PrivateSocketOptions): Promise<PrivateSocket> {
  const { path, token, fetch, onError = () => {} } = options;
  const isWanted = createTokenCheck(token);
  const listener = new HttpListener({
    fetch,
    limits,
    judge: (incoming) => judge(incoming, isWanted),
    clientOf: () => "this machine",
    onError,
  });
  const isFile = !path.startsWith("\\\\");
  if (isFile) await rm(path, { force: true });
  await listener.listen({ path });
  if (isFile) await chmod(path, 0o600);
  return { close: () => listener.close() };
}

function judge(
  incoming: IncomingMessage,
  isWanted: (given: string) => boolean,
): Refusal | undefined {
  // No browser reaches a socket; one that did would send this.
  if (incoming.headers.origin !== undefined)
    return { status: 403, text: "Requests of web pages are not allowed." };
  if (!incoming.url?.startsWith("/"))
    return { status: 400, text: "The request target must be a path." };
  const { authorization = "" } = incoming.headers;
  if (!isWanted(authorization)) return { status: 401, text: "The token is missing or wrong." };
  return undefined;
}

/** Compares digests, so that the time it takes tells nothing about the token. */
function createTokenCheck(token: string): (given: string) => boolean {
  const wanted = digest(`Bearer ${token}`);
  return (given) => timingSafeEqual(digest(given), wanted);
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
