import type { ServerEntry } from "plugboard";

/** What a scenario about sign-in hands to its client, as a person gets it from whoever runs the server. */
export interface SignInContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  /** What a program is given by the platform that it runs on. */
  readonly valid_jwt?: string;
  readonly idp_issuer?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
}

type Auth = Extract<ServerEntry["auth"], object>;

/** The one address that the suite's server takes for that of a client's description. */
const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";

/** What a user would write under `auth` with what they were given; all the rest is discovered. */
export function authFor(scenario: string, context: SignInContext): Auth {
  const given = {
    clientId: context.client_id,
    clientSecret: context.client_secret,
    privateKey: context.private_key_pem,
    assertion: context.valid_jwt,
    identityProvider: context.idp_issuer,
    idpClientId: context.idp_client_id,
    idToken: context.idp_id_token,
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    type: "oauth",
    ...(context.client_id === undefined && { clientMetadataUrl }),
    ...(Object.fromEntries(known) as Partial<Auth>),
    grant: grantFor(scenario, context),
    // Only who runs the server can tell that tokens must be bound to a key there.
    ...(scenario.startsWith("auth/dpop") && { dpop: true }),
  };
}

function grantFor(scenario: string, context: SignInContext): NonNullable<Auth["grant"]> {
  if (context.valid_jwt !== undefined) return "jwt-bearer";
  if (context.idp_id_token !== undefined) return "enterprise";
  const isUnattended = scenario.startsWith("auth/client-credentials-");
  return isUnattended ? "client_credentials" : "authorization_code";
}
