import type { Command } from "commander";

import { createError } from "../../errors/families.ts";
import type { AskedSecret } from "./entry-words.ts";
import { collect, parsePort } from "./option-values.ts";

/** The options that say how a server is signed in to, as the parser gives them. */
export interface AuthOptions {
  readonly oauth?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: boolean;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly oauthScope?: readonly string[];
  readonly callbackPort?: number;
  readonly bearer?: boolean;
}

export function addAuthOptions(command: Command): Command {
  return command
    .option("--bearer", "it is called with a token, which is asked for and kept sealed")
    .option("--oauth", "it is signed in to with OAuth; what is not given is found out")
    .option("--client-id <id>", "the client that was registered for you")
    .option("--client-secret", "the secret of that client is asked for and kept sealed")
    .option("--auth-url <address>", "the page for signing in, where it is not found")
    .option("--token-url <address>", "where tokens are issued, where that is not found")
    .option("--oauth-scope <scope>", "what to ask for at the sign-in (repeatable)", collect)
    .option(
      "--callback-port <port>",
      "the browser returns to this port, as it is registered",
      parsePort,
    );
}

/** Reads how a server is signed in to, as a member of its entry; nothing where nothing was typed. */
export function readAuth(options: AuthOptions): Readonly<Record<string, unknown>> {
  const { clientId, clientSecret, authUrl, tokenUrl, oauthScope: scopes, callbackPort } = options;
  const given = { clientId, authUrl, tokenUrl, scopes, callbackPort };
  const oauth = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  const isOAuth = options.oauth === true || Object.keys(oauth).length > 0 || clientSecret === true;
  if (isOAuth && options.bearer === true)
    throw createError("invalid_arguments", "--bearer goes with no option of OAuth", {
      hint: "a server is called with one token: yours, or one that a sign-in gives",
    });
  if (options.bearer === true) return { auth: { type: "bearer" } };
  return isOAuth ? { auth: { type: "oauth", ...oauth } } : {};
}

/** Lists the secrets of a sign-in that are to be asked for. */
export function askedAuthSecrets({ bearer, clientSecret }: AuthOptions): readonly AskedSecret[] {
  return [
    ...(bearer === true ? [{ key: "auth", name: "token", prefix: "" } as const] : []),
    ...(clientSecret === true ? [{ key: "auth", name: "clientSecret", prefix: "" } as const] : []),
  ];
}
