import type { JsonObject } from "../../text/json-object.ts";
import { attackDocument, attackMetadata } from "./attacks.ts";
import { clientAuthMethods } from "./authorization-options.ts";
import type { AuthorizationSite } from "./authorization-site.ts";
import { signingAlgorithms } from "./signed-jwt.ts";

/** Where the metadata of an issuer lies, as a path; undefined for a server that has none. */
export function metadataPath({ options }: AuthorizationSite): string | undefined {
  const { discovery = "oauth", issuerPath = "" } = options;
  switch (discovery) {
    case "oauth":
      return `/.well-known/oauth-authorization-server${issuerPath}`;
    case "openid":
      return `/.well-known/openid-configuration${issuerPath}`;
    case "openid-appended":
      return `${issuerPath}/.well-known/openid-configuration`;
    case "none":
      return undefined;
  }
}

export function answerMetadata(
  site: AuthorizationSite,
  ended: AbortSignal,
): Response | Promise<Response> {
  const { attack, trapUrl, clock } = site;
  return (
    attackDocument(attack, "metadata", { trapUrl, clock, ended }) ??
    Response.json(attackMetadata(attack, describeServer(site), trapUrl))
  );
}

/** The metadata of RFC 8414; with what OpenID Connect asks for where it lies at that place. */
function describeServer({ options, issuer, grants, pkce }: AuthorizationSite): JsonObject {
  const { registration = "both", issParameter = true, dpop = "off", discovery } = options;
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/jwks`,
    ...((registration === "both" || registration === "dynamic") && {
      registration_endpoint: `${issuer}/register`,
    }),
    ...((registration === "both" || registration === "metadata-document") && {
      client_id_metadata_document_supported: true,
    }),
    scopes_supported: options.scopes ?? ["mcp"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: grants,
    token_endpoint_auth_methods_supported: options.authMethods ?? clientAuthMethods,
    token_endpoint_auth_signing_alg_values_supported: signingAlgorithms,
    ...(pkce !== "missing" && { code_challenge_methods_supported: [pkce] }),
    ...(issParameter && { authorization_response_iss_parameter_supported: true }),
    ...(dpop !== "off" && { dpop_signing_alg_values_supported: signingAlgorithms }),
    ...(discovery?.startsWith("openid") === true && {
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
  };
}
