import type { OAuthClientMetadata } from "@modelcontextprotocol/client";

import type { ClientAuthMethod } from "../../config/keys/server-config.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { canonicalHash } from "../../text/canonical-hash.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { ownCommand } from "../../text/own-command.ts";
import { refusalError } from "../auth-error.ts";
import type { SignedInClient } from "../sign-in-record.ts";
import type { SignInSettings } from "../sign-in-settings.ts";
import { hostOf, type TokenIssuer } from "./discover.ts";
import type { OAuthHttp } from "./oauth-http.ts";
import { loadOAuth } from "./oauth-sdk.ts";

/** A client at an issuer. */
export interface OAuthClient extends SignedInClient {
  /** `registered`: by this host, so that it can be done again when the issuer has forgotten it. */
  readonly origin: "configured" | "document" | "registered";
}

/** A registration as the vault keeps it: it belongs to one issuer and one redirect address. */
interface Registration extends SignedInClient {
  readonly redirectUri: string;
}

const registrationName = ({ issuer }: Pick<TokenIssuer, "issuer">): string =>
  `oauth-client/${canonicalHash(issuer)}`;

/** The client that an entry names; undefined when it leaves that to the host. */
export function configuredClient({ oauth }: SignInSettings): OAuthClient | undefined {
  const { clientId, clientSecret, clientAuthMethod, privateKey } = oauth;
  if (clientId === undefined) return undefined;
  const authMethod = clientAuthMethod ?? (privateKey === undefined ? undefined : "private_key_jwt");
  return { origin: "configured", id: clientId, secret: clientSecret, authMethod };
}

/** Keeps the clients that the host has registered, and chooses the one for a sign-in. */
export class OAuthClients {
  readonly #vault: SecretVault;

  constructor(vault: SecretVault) {
    this.#vault = vault;
  }

  /** The redirect address of an earlier registration, so that the same one can be offered again. */
  async registeredRedirect(issuer: TokenIssuer): Promise<string | undefined> {
    return (await this.#registration(issuer))?.redirectUri;
  }

  /**
   * The client for a person's sign-in: the one that is configured, else the document that describes it, else one that
   * is registered for it, now or before.
   */
  async choose(
    settings: SignInSettings,
    issuer: TokenIssuer,
    redirectUri: string,
    http: OAuthHttp,
  ): Promise<OAuthClient> {
    const configured = configuredClient(settings);
    if (configured !== undefined) return configured;
    const { clientMetadataUrl } = settings.oauth;
    const { metadata } = issuer;
    if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true)
      return { origin: "document", id: clientMetadataUrl, secret: undefined, authMethod: "none" };
    const known = await this.#registration(issuer);
    if (known?.redirectUri === redirectUri) return { ...known, origin: "registered" };
    if (metadata.registration_endpoint === undefined) throw noClient(settings, issuer);
    return { ...(await this.#register(settings, issuer, redirectUri, http)), origin: "registered" };
  }

  /** Forgets a registration that the issuer does not know any more: the next sign-in makes a new one. */
  async forget(issuer: Pick<TokenIssuer, "issuer">): Promise<void> {
    await this.#vault.remove(registrationName(issuer));
  }

  async #registration(issuer: TokenIssuer): Promise<Registration | undefined> {
    const text = await this.#vault.read(registrationName(issuer));
    if (text === undefined) return undefined;
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? (value as unknown as Registration) : undefined;
  }

  async #register(
    settings: SignInSettings,
    issuer: TokenIssuer,
    redirectUri: string,
    http: OAuthHttp,
  ): Promise<Registration> {
    const sdk = await loadOAuth();
    const host = hostOf(issuer.metadata.registration_endpoint ?? issuer.issuer);
    const { serverName } = settings;
    try {
      const given = await sdk.registerClient(issuer.issuer, {
        metadata: issuer.metadata,
        clientMetadata: clientMetadata(settings, redirectUri),
        fetchFn: http.fetch,
      });
      const registration: Registration = {
        id: given.client_id,
        secret: given.client_secret,
        authMethod: given.token_endpoint_auth_method as ClientAuthMethod | undefined,
        redirectUri,
      };
      await this.#vault.write(registrationName(issuer), JSON.stringify(registration));
      return registration;
    } catch (cause) {
      if (McpError.is(cause)) throw cause;
      const hint = `register a client there by hand, and write its id as clientId into the entry of ${serverName}`;
      if (!sdk.RegistrationRejectedError.isInstance(cause))
        throw createError("auth_client_rejected", `${host} answered the registration unreadably`, {
          serverName,
          hint,
          cause,
        });
      if (issuer.found === "assumed" && cause.status >= 404) throw noSignIn(settings, cause);
      const { error = `HTTP ${cause.status}`, description } = registrationError(cause.body);
      const refusal = { error, description, host, what: "to register a client" };
      const refused = refusalError(refusal, serverName, { hint, cause });
      throw refused.code === "auth_failed"
        ? createError("auth_client_rejected", refused.message, { serverName, hint, cause })
        : refused;
    }
  }
}

/** What the host says of itself when it registers. Its name tells one server's client from another's. */
function clientMetadata(
  { serverName, oauth }: SignInSettings,
  redirectUri: string,
): OAuthClientMetadata {
  return {
    client_name: `Plugboard (${serverName})`,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: oauth.clientAuthMethod ?? "none",
    application_type: "native",
  };
}

/** Nothing was described, and nothing is at the usual places either. */
function noSignIn({ serverName }: SignInSettings, cause: unknown): McpError {
  const paste = ownCommand("login", serverName, ["--token", "-"]);
  return createError("auth_failed", "the server does not say how to sign in", {
    serverName,
    hint: `if you have a token for it: ${paste}`,
    cause,
  });
}

function noClient({ serverName }: SignInSettings, { issuer }: TokenIssuer): McpError {
  return createError(
    "auth_client_rejected",
    `${hostOf(issuer)} knows no client of ours, and none can be registered by a program`,
    {
      serverName,
      hint: `register one there by hand, and write its id as clientId into the entry of ${serverName}`,
    },
  );
}

interface RegistrationError {
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

function registrationError(body: string): RegistrationError {
  try {
    const answer: unknown = JSON.parse(body);
    if (!isJsonObject(answer)) return {};
    const { error, error_description: description } = answer;
    return {
      error: typeof error === "string" ? error : undefined,
      description: typeof description === "string" ? description : undefined,
    };
  } catch {
    return {};
  }
}
