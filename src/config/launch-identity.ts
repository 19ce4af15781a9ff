import { canonicalHash, canonicalJson } from "../text/canonical-hash.ts";
import { redact } from "../text/redact.ts";
import { findSecretArgs } from "./lint-entry.ts";
import type { ServerConfig, TransportConfig } from "./server-config.ts";
import { isPureReference } from "./variable-reference.ts";

export interface LaunchOptions {
  /** The file that `command` stands for on this machine, when it has been looked up. */
  readonly commandPath?: string | undefined;
}

/** What approving a server approves, as flat named facts that can be stored, shown and compared. */
export type LaunchFacts = Readonly<Record<string, string>>;

/**
 * The hash that an approval is bound to: what would be started or contacted, with what, and how far it
 * is kept apart. References count as they are written, so that a new value of a variable asks nothing.
 */
export function launchIdentity(config: ServerConfig, options: LaunchOptions = {}): string {
  return canonicalHash(launchFacts(config, options));
}

/** The facts behind `launchIdentity`. A literal value that may be a secret is present as a digest only. */
export function launchFacts(config: ServerConfig, options: LaunchOptions = {}): LaunchFacts {
  const facts = [
    ...transportFacts(config, options),
    ...named("auth", config.auth, (key, value) => (secretAuthKeys.has(key) ? cover(value) : value)),
    ["isolation", config.isolation === undefined ? "off" : "on"] as const,
    ...named("isolation", config.isolation ?? {}),
  ];
  return Object.fromEntries(facts);
}

type Fact = readonly [name: string, value: string];

const secretAuthKeys: ReadonlySet<string> = new Set(["token", "clientSecret", "privateKey"]);

function transportFacts(config: ServerConfig, options: LaunchOptions): readonly Fact[] {
  const transport: TransportConfig = config.transport;
  switch (transport.kind) {
    case "none":
    case "memory":
      // Nothing is started; the name alone tells two of them apart.
      return [
        ["kind", transport.kind],
        ["name", config.name],
      ];
    case "stdio": {
      const { kind, command, args, cwd, env, ...rest } = transport;
      const hidden = findSecretArgs(args);
      return [
        ["kind", kind],
        ["command", options.commandPath ?? command],
        ...args.map((arg, index): Fact => [
          `args.${index}`,
          hidden.includes(index) ? digest(arg) : arg,
        ]),
        ...(cwd === undefined ? [] : [["cwd", cwd] as const]),
        ...named("env", env, (_name, value) => cover(value)),
        ...named("", { ...rest, envPassthrough: rest.envPassthrough.toSorted() }),
      ];
    }
    case "http":
    case "streamable-http":
    case "sse":
    case "http-post":
    case "rest": {
      const { kind, url, headers, ...rest } = transport;
      const shown = redact(url);
      return [
        ["kind", kind],
        ["url", shown],
        ...(shown === url ? [] : [["url.digest", digest(url)] as const]),
        ...named("headers", headers, (_name, value) => cover(value)),
        ...named("", rest),
      ];
    }
  }
}

/** One fact per key; values that are no text count by their JSON. */
function named(
  prefix: string,
  values: object,
  show: (key: string, value: string) => string = (_key, value) => value,
): readonly Fact[] {
  return Object.entries(values).map(([key, value]: [string, unknown]) => [
    prefix === "" ? key : `${prefix}.${key}`,
    show(key, typeof value === "string" ? value : canonicalJson(value)),
  ]);
}

function cover(value: string): string {
  return isPureReference(value) ? value : digest(value);
}

function digest(value: string): string {
  return `sha256:${canonicalHash(value).slice(0, 32)}`;
}
