import { type CallbackParameters, attackCallback, greedyScopes } from "./attacks.ts";
import type { AuthorizationSite } from "./authorization-site.ts";
import { type ServerClient, allowsRedirect } from "./client-registry.ts";
import {
  type ArrivedRequest,
  type Refusal,
  isRefusal,
  membersOf,
  refuse,
  wordsOf,
} from "./oauth-answer.ts";

interface AuthorizeRequest {
  readonly client: ServerClient;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/**
 * The authorization endpoint. Whoever cannot be called back safely sees a page; every other answer is
 * a redirect to the client, at once or after the button of the consent page.
 */
export function answerAuthorize(site: AuthorizationSite, arrived: ArrivedRequest): Response {
  const { query } = arrived;
  const client = site.clients.find(query["client_id"] ?? "");
  if (client === undefined) return errorPage("This client is not known.");
  const redirectUri = query["redirect_uri"] ?? soleRedirect(client);
  if (redirectUri === undefined || !allowsRedirect(client, redirectUri))
    return errorPage("This redirect_uri is not registered for the client.");

  const request = { client, redirectUri, state: query["state"], query };
  const refusal = checkRequest(site, request);
  if (refusal !== undefined) return callBack(site, request, refusal);
  switch (decide(site, arrived)) {
    case "ask":
      return consentPage(site, request);
    case "deny":
      return callBack(site, request, refuse("access_denied", "The request was denied."));
    case "approve":
      return callBack(site, request, { code: issueCode(site, request) });
  }
}

function decide(site: AuthorizationSite, arrived: ArrivedRequest): "approve" | "deny" | "ask" {
  if (site.options.consent !== "page") return site.options.consent ?? "approve";
  if (arrived.method !== "POST") return "ask";
  return membersOf(arrived)["decision"] === "approve" ? "approve" : "deny";
}

function soleRedirect({ redirectUris }: ServerClient): string | undefined {
  return redirectUris.length === 1 && Array.isArray(redirectUris) ? redirectUris[0] : undefined;
}

function checkRequest(site: AuthorizationSite, { query }: AuthorizeRequest): Refusal | undefined {
  if (!site.grants.includes("authorization_code"))
    return refuse("unauthorized_client", "This server does not give codes.");
  if (query["response_type"] !== "code")
    return refuse("unsupported_response_type", "The response_type must be code.");
  const { pkce } = site;
  if (pkce !== "missing") {
    if (query["code_challenge"] === undefined)
      return refuse("invalid_request", "The code_challenge is missing.");
    // A challenge without a method is a plain one (RFC 7636).
    if ((query["code_challenge_method"] ?? "plain") !== pkce)
      return refuse("invalid_request", `The code_challenge_method must be ${pkce}.`);
  }
  const scopes = grantScopes(site, query["scope"]);
  if (isRefusal(scopes)) return scopes;
  return checkResource(site, query["resource"]);
}

/** The scopes that somebody gets who asks for these, or why they get none. */
export function grantScopes(
  site: AuthorizationSite,
  asked: string | undefined,
): readonly string[] | Refusal {
  const { scopes = ["mcp"], grantedScopes } = site.options;
  const words = wordsOf(asked);
  const { attack } = site;
  const isAnyAsked = attack === "stepup-loop" || attack === "scope-greed";
  if (!isAnyAsked && !words.every((word) => scopes.includes(word)))
    return refuse("invalid_scope", "Some of the scopes asked for do not exist.");
  if (grantedScopes !== undefined) return grantedScopes;
  if (attack === "scope-greed") return [...new Set([...words, ...scopes, ...greedyScopes])];
  if (attack === "scope-short") return words.slice(0, 1);
  return words.length > 0 ? words : scopes;
}

export function checkResource(
  site: AuthorizationSite,
  resource: string | undefined,
): Refusal | undefined {
  if (resource === undefined)
    return site.options.resource === "optional"
      ? undefined
      : refuse("invalid_target", "The resource is missing.");
  if (!URL.canParse(resource) || resource.includes("#"))
    return refuse("invalid_target", "The resource is no absolute URI without a fragment.");
  return undefined;
}

function issueCode(site: AuthorizationSite, request: AuthorizeRequest): string {
  const { client, redirectUri, query } = request;
  const scopes = grantScopes(site, query["scope"]);
  const boundTo = query["dpop_jkt"];
  const grant = {
    clientId: client.clientId,
    scopes: isRefusal(scopes) ? [] : scopes,
    resource: query["resource"],
    boundTo,
  };
  return site.tokens.issueCode({ grant, redirectUri, challenge: query["code_challenge"] });
}

function callBack(
  site: AuthorizationSite,
  { redirectUri, state }: AuthorizeRequest,
  answer: Refusal | { readonly code: string },
): Response {
  const result: CallbackParameters = isRefusal(answer)
    ? { error: answer.error, error_description: answer.description }
    : { code: answer.code };
  const iss = site.options.issParameter === false ? undefined : site.issuer;
  const parameters = attackCallback(site.attack, { ...result, state, iss });
  const location = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) location.searchParams.set(name, value);
  return new Response(null, { status: 302, headers: { location: location.href } });
}

function consentPage(site: AuthorizationSite, { client, query }: AuthorizeRequest): Response {
  const scopes = grantScopes(site, query["scope"]);
  const list = isRefusal(scopes) ? "" : scopes.map((scope) => `<li>${escape(scope)}</li>`).join("");
  return page(
    "Sign in",
    `<p><b>${escape(client.name ?? client.clientId)}</b> asks for access to ${escape(query["resource"] ?? "everything")}:</p>
<ul>${list}</ul>
<form method="post">
<button name="decision" value="approve">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  );
}

function errorPage(text: string): Response {
  return page("Sign-in is not possible", `<p>${escape(text)}</p>`, 400);
}

function page(title: string, body: string, status = 200): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<h1>${title}</h1>
${body}
</html>
`;
  return new Response(html, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
}
