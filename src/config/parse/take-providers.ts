import { isRecord } from "../keys/check-value.ts";
import { type ValueProvider, valueProviders } from "../keys/server-config.ts";
import { givenSecretName } from "../variables/secret-names.ts";

type Source = Readonly<Record<string, unknown>>;
type Providers = ReadonlyMap<string, ValueProvider>;

/**
 * Takes the functions out of an entry that code gives, and leaves references in their places: from then on such a
 * value is like any other that is known only when the server starts.
 */
export function takeProviders(source: Source): {
  readonly source: Source;
  readonly providers: Providers;
} {
  // A copy of a configuration that was read before has references already.
  const known = (source as { readonly [valueProviders]?: Providers })[valueProviders];
  const providers = new Map<string, ValueProvider>(known);
  const take = (key: string, members: unknown): unknown => {
    if (!isRecord(members)) return members;
    const taken = Object.entries(members).map(([name, value]) => {
      const isTaken = typeof value === "function" && (key !== "auth" || name === "token");
      if (!isTaken) return [name, value] as const;
      const secret = givenSecretName([key, name]);
      providers.set(secret, value as ValueProvider);
      return [name, `\${secret:${secret}}`] as const;
    });
    return Object.fromEntries(taken);
  };
  const { env, headers, auth } = source;
  const given = Object.entries({ env, headers, auth }).filter(([, value]) => value !== undefined);
  const replaced = given.map(([key, value]) => [key, take(key, value)] as const);
  if (providers.size === 0) return { source, providers };
  return { source: { ...source, ...Object.fromEntries(replaced) }, providers };
}
