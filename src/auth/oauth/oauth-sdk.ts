import { loadOnce } from "../../async/load-once.ts";

/** The OAuth functions of the official SDK, loaded by the first sign-in or renewal and by nothing else. */
export const loadOAuth = loadOnce(() => import("@modelcontextprotocol/client"));

export type OAuthSdk = Awaited<ReturnType<typeof loadOAuth>>;
