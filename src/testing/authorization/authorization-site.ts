import type { Clock } from "../../ports/clock.ts";
import type { AuthorizationAttack } from "./attacks.ts";
import type { AuthorizationServerOptions, GrantType } from "./authorization-options.ts";
import type { ClientRegistry } from "./client-registry.ts";
import type { DpopProofs } from "./dpop-proofs.ts";
import type { SigningKey } from "./signed-jwt.ts";
import type { TokenBook } from "./token-book.ts";

/** What the endpoints of one server share. */
export interface AuthorizationSite {
  readonly options: AuthorizationServerOptions;
  readonly attack: AuthorizationAttack | undefined;
  readonly grants: readonly GrantType[];
  readonly pkce: "S256" | "plain" | "missing";
  /** The issuer at the address that the request came to. */
  readonly issuer: string;
  readonly trapUrl: string;
  readonly clock: Clock;
  readonly clients: ClientRegistry;
  readonly tokens: TokenBook;
  readonly proofs: DpopProofs;
  readonly key: SigningKey;
  /** Ids of assertions that were taken: each is good once. */
  readonly usedAssertions: Set<string>;
}
