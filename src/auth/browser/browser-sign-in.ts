import { randomBytes } from "node:crypto";

import type { DpopSession, OAuthTokens } from "@modelcontextprotocol/client";

import { until } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { checkPage } from "../../isolation/network/check-page.ts";
import { ownCommand } from "../../text/own-command.ts";
import { refusalError, sanitizeText } from "../auth-error.ts";
import { type AuthChallenge, scopesIn } from "../oauth/challenge.ts";
import { hostOf, refuseWithoutPkce, type TokenIssuer } from "../oauth/discover.ts";
import type { OAuthClient, OAuthClients } from "../oauth/oauth-client.ts";
import type { OAuthHttp } from "../oauth/oauth-http.ts";
import { loadOAuth } from "../oauth/oauth-sdk.ts";
import { requestTokens } from "../oauth/token-requests.ts";
import type { SignInSettings, SignInTools } from "../sign-in-settings.ts";
import { type Callback, type CallbackAnswer, type CallbackPage, openCallback } from "./callback.ts";

/** The page on which a person signs in. Every text in it is safe to show. */
export interface SignInPage {
  readonly serverName: string;
  /** To be opened as it is. */
  readonly url: string;
  /** Whose page it is: a person must see this before the page is opened. */
  readonly host: string;
  /** What is asked for. */
  readonly scopes: readonly string[];
  /** Where the browser ends up. */
  readonly redirectUri: string;
  /** Whether this machine waits there; otherwise the address at which the browser ended must be pasted. */
  readonly isAwaited: boolean;
}

/**
 * Shows a person the page. Resolves with the address at which the browser ended, when the person pasted it; with
 * nothing when the page is open and the browser will come back by itself. A rejection means that nobody signs in.
 */
export type PresentPage = (
  page: SignInPage,
  options: { readonly signal: AbortSignal },
) => Promise<string | undefined>;

export interface BrowserSignIn {
  readonly settings: SignInSettings;
  readonly tools: SignInTools;
  readonly clients: OAuthClients;
  readonly issuer: TokenIssuer;
  readonly http: OAuthHttp;
  readonly scopes: readonly string[];
  readonly dpop: DpopSession | undefined;
  readonly present: PresentPage;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came of a sign-in. */
export interface GrantedSignIn {
  readonly client: OAuthClient;
  readonly tokens: OAuthTokens;
  readonly scopes: readonly string[];
}

const maxScopes = 60;
const maxScopeChars = 2_000;

/**
 * Signs a person in with a browser (authorization code with PKCE). `keep` stores what was granted; the browser says
 * that all went well only after that.
 */
export async function signInWithBrowser(
  signIn: BrowserSignIn,
  keep: (granted: GrantedSignIn) => Promise<void>,
): Promise<void> {
  const { settings, clients, issuer, http } = signIn;
  const { serverName, oauth } = settings;
  refuseWithoutPkce(issuer, serverName);
  const callback = await openCallback({
    serverName: sanitizeText(serverName, 100),
    redirectUri: oauth.redirectUri,
    callbackPort: oauth.callbackPort,
    earlier: await clients.registeredRedirect(issuer),
  });
  let client: OAuthClient | undefined;
  try {
    client = await clients.choose(settings, issuer, callback.redirectUri, http);
    await askPerson({ ...signIn, callback, client }, keep);
  } catch (error) {
    // The page of an issuer that has forgotten the client never comes back to us, and the next try must not be the same.
    const mayBeForgotten =
      McpError.is(error, "auth_client_rejected") || McpError.is(error, "timeout");
    if (client?.origin === "registered" && mayBeForgotten) await clients.forget(issuer);
    throw error;
  } finally {
    await callback.close();
  }
}

interface AskedSignIn extends BrowserSignIn {
  readonly callback: Callback;
  readonly client: OAuthClient;
}

async function askPerson(
  signIn: AskedSignIn,
  keep: (granted: GrantedSignIn) => Promise<void>,
): Promise<void> {
  const { settings, tools, issuer, client, callback, http, present } = signIn;
  const { serverName } = settings;
  const sdk = await loadOAuth();
  const state = randomBytes(32).toString("base64url");
  const scope = signIn.scopes.join(" ");
  const { authorizationUrl, codeVerifier } = await sdk
    .startAuthorization(issuer.issuer, {
      metadata: issuer.metadata,
      clientInformation: { client_id: client.id },
      redirectUrl: callback.redirectUri,
      state,
      ...(scope === "" ? {} : { scope }),
      ...(issuer.resource === undefined ? {} : { resource: issuer.resource }),
    })
    .catch((cause: unknown) => {
      const message = `${hostOf(issuer.issuer)} offers no sign-in with a browser that can be used`;
      throw createError("auth_failed", message, { serverName, cause });
    });
  const checked = checkPage(authorizationUrl.href, http.policyFor(authorizationUrl));
  if (!checked.ok) {
    const message = `refused to open the page for signing in: ${checked.reason}`;
    throw createError("auth_failed", message, { serverName, hint: "ask who runs the server" });
  }

  const finish = async (answer: CallbackAnswer): Promise<void> => {
    const code = await codeIn(answer, signIn);
    const tokens = await requestTokens({
      settings,
      issuer,
      client: { ...client },
      resource: issuer.resource,
      http,
      dpop: signIn.dpop,
      params: {
        grant_type: "authorization_code",
        code,
        code_verifier: codeVerifier,
        redirect_uri: callback.redirectUri,
      },
    });
    await keep({ client, tokens, scopes: signIn.scopes });
  };
  const returned = new Promise<void>((resolve, reject) => {
    callback.answer(state, async (answer): Promise<CallbackPage> => {
      try {
        await finish(answer);
        resolve();
        return { isDone: true, text: "you are signed in." };
      } catch (error) {
        reject(error);
        const text = McpError.is(error) ? error.message : "the sign-in failed";
        return { isDone: false, text };
      }
    });
  });
  // Perhaps the address was pasted, and nobody waits for this any more.
  returned.catch(() => undefined);

  const page: SignInPage = {
    serverName,
    url: checked.href,
    host: checked.host,
    scopes: signIn.scopes.map((one) => sanitizeText(one, 100)),
    redirectUri: callback.redirectUri,
    isAwaited: callback.isListening,
  };
  const answered = async (signal: AbortSignal): Promise<void> => {
    const pasted = await present(page, { signal }).catch((cause: unknown) => {
      throw McpError.is(cause) ? cause : notOpened(serverName, cause);
    });
    if (pasted !== undefined) return await finish(callback.parse(pasted, state));
    if (!callback.isListening) throw notPasted(serverName, callback.redirectUri);
    await returned;
  };
  await until((signal) => Promise.race([returned, answered(signal)]), {
    signals: [signIn.signal],
    cancelled: () => createError("cancelled", "the sign-in was cancelled", { serverName }),
    clock: tools.clock,
    afterMs: signIn.timeoutMs,
    tooLate: () => neverReturned(signIn),
  });
}

/** The code that an answer carries. Who answers is checked first: nothing of somebody else's answer is shown. */
async function codeIn(answer: CallbackAnswer, { issuer, settings }: AskedSignIn): Promise<string> {
  const { serverName } = settings;
  const { metadata } = issuer;
  const sdk = await loadOAuth();
  if (issuer.found === "described")
    try {
      sdk.validateAuthorizationResponseIssuer({
        iss: answer.get("iss") ?? undefined,
        expectedIssuer: metadata.issuer,
        issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
      });
    } catch (cause) {
      const message =
        "another authorization server answered than the one that was asked; its answer was not used";
      throw createError("auth_failed", message, { serverName, cause });
    }
  const host = hostOf(metadata.authorization_endpoint);
  const error = answer.get("error");
  const description = answer.get("error_description") ?? undefined;
  if (error !== null)
    throw refusalError({ error, description, host, what: "the sign-in" }, serverName);
  const code = answer.get("code");
  if (code !== null && code !== "" && code.length <= 8_192) return code;
  throw createError("auth_failed", `${host} sent the browser back without a code`, { serverName });
}

function neverReturned({ settings, callback, timeoutMs }: AskedSignIn): McpError {
  const { serverName } = settings;
  const { redirectUri, strayAnswers } = callback;
  const stray =
    strayAnswers === 0 ? "" : `; ${strayAnswers} answers belonged to no sign-in of ours`;
  const message = `the browser did not come back within ${Math.round(timeoutMs / 1_000)} s${stray}`;
  return createError("timeout", message, {
    serverName,
    hint: `if the page said that the redirect address is wrong, it must be registered as ${redirectUri}; else: ${ownCommand("login", serverName)}`,
    details: { redirectUri },
  });
}

function notOpened(serverName: string, cause: unknown): McpError {
  const message = "the page for signing in could not be opened";
  return createError("auth_denied", message, {
    serverName,
    hint: `open it yourself: ${ownCommand("login", serverName, ["--no-browser"])}`,
    cause,
  });
}

function notPasted(serverName: string, redirectUri: string): McpError {
  const message = `nobody here can wait at ${redirectUri}, and no address was pasted`;
  return createError("auth_required", message, {
    serverName,
    hint: `sign in again, and paste the address at which the browser ends: ${ownCommand("login", serverName, ["--no-browser"])}`,
  });
}

/**
 * Chooses the scopes to ask for: those of the entry, else what the server demanded when it refused a request, else what
 * it lists for itself. Scopes that were asked for before stay, so that nothing is lost when one more is needed, and
 * when a person signs in again although the server refused nothing.
 */
export function chooseScopes(
  { oauth, serverName }: SignInSettings,
  issuer: TokenIssuer,
  challenge: AuthChallenge | undefined,
  before: readonly string[],
): readonly string[] {
  const isStepUp = challenge?.error === "insufficient_scope";
  const configured = oauth.scopes?.join(" ");
  const demanded = challenge?.scope;
  const isAgain = challenge === undefined && before.length > 0;
  const listed = isAgain ? before : issuer.resourceScopes;
  const base = isStepUp
    ? scopesIn(configured, before.join(" "), demanded)
    : scopesIn(configured ?? demanded ?? listed.join(" "));
  const offline = "offline_access";
  const mayStay = issuer.metadata.scopes_supported?.includes(offline) === true;
  const scopes = base.length > 0 && mayStay ? scopesIn(base.join(" "), offline) : base;
  if (scopes.length <= maxScopes && scopes.join(" ").length <= maxScopeChars) return scopes;
  throw createError("auth_failed", `the server demands ${scopes.length} scopes`, {
    serverName,
    hint: 'name those that you need as "scopes" in its entry',
  });
}
