import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import type {
  AuthConfig,
  ConfigText,
  ServerConfig,
  TransportConfig,
} from "../keys/server-config.ts";

/** The transport and sign-in of an entry as plain strings. */
export interface ResolvedTexts {
  readonly transport: TransportConfig<string>;
  readonly auth: AuthConfig<string>;
}

type MapText = (text: string, field: string) => string;

/** Applies `map` to every value in which references are replaced, and `mapPath` where only folders are. */
export function mapTemplates(
  { transport, auth }: Pick<ServerConfig, "transport" | "auth">,
  map: MapText,
  mapPath: MapText = (text) => text,
): ResolvedTexts {
  const mapAll = (
    values: Readonly<Record<string, ConfigText>>,
    field: string,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, map(reveal(value), `${field}.${name}`)]),
    );
  // Only servers with an address have a sign-in.
  if (transport.kind === "none" || transport.kind === "memory")
    return { transport, auth: { type: "none" } };
  if (transport.kind === "stdio") {
    const words = transport.args.map(reveal);
    const mapWord = transport.expandArgs ? map : mapPath;
    const { command, cwd, envFile, ...rest } = transport;
    return {
      transport: {
        ...rest,
        command: mapPath(command, "command"),
        args: words.map((word, index) => mapWord(word, `args.${index}`)),
        ...(cwd === undefined ? {} : { cwd: mapPath(cwd, "cwd") }),
        ...(envFile === undefined ? {} : { envFile: mapPath(envFile, "envFile") }),
        env: mapAll(transport.env, "env"),
      },
      auth: { type: "none" },
    };
  }
  const mapped = Object.entries(auth).map(([key, value]: [string, unknown]) => {
    const isText = typeof value === "string" || SecretText.is(value);
    const isTemplate = isText && key !== "type" && key !== "grant";
    return [key, isTemplate ? map(reveal(value), `auth.${key}`) : value];
  });
  const { messageEndpoint, ...http } = transport;
  return {
    transport: {
      ...http,
      url: map(reveal(transport.url), "url"),
      headers: mapAll(transport.headers, "headers"),
      ...(messageEndpoint === undefined
        ? {}
        : { messageEndpoint: map(reveal(messageEndpoint), "messageEndpoint") }),
    },
    auth: Object.fromEntries(mapped) as AuthConfig<string>,
  };
}
