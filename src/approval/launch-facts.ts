import {
  type ConfigText,
  isOfProject,
  type Provenance,
  type ServerConfig,
  type TransportConfig,
} from "../config/keys/server-config.ts";
import type { ConsentId, EntryId, LaunchId } from "../config/keys/server-ids.ts";
import { withoutEditions } from "../config/variables/secret-names.ts";
import type { CheckedLaunch } from "../isolation/process/checked-launch.ts";
import { canonicalHash, canonicalJson, entryHash } from "../text/canonical-hash.ts";
import { SecretText } from "../text/secrets/secret-text.ts";

/**
 * Keys of an entry that start nothing, but decide which tools are offered and under which names, which
 * may be those of another server.
 */
const namingKeys = ["naming", "toolPrefix", "enabledTools", "disabledTools"] as const;

/** The facts that a `ConsentId` leaves out. */
const placeAndNaming: ReadonlySet<string> = new Set([
  "commandPath",
  "folder",
  "workspaceFolder",
  ...namingKeys,
]);

// In front: behind it, a variable or header could be named so that it takes the place of another one.
const digestOf = "digest of ";

/** The place of a launch, which it depends on beside its entry: its folder, and the file behind its command there. */
export interface LaunchPlace {
  /** The file that `command` stands for, links followed; in words why it is not known, where it is not. */
  readonly commandPath?: string | undefined;
  /** The folder the process would start in, links followed. */
  readonly folder?: string | undefined;
  /** What `${workspaceFolder}` stands for, where the entry says more with it than the folder. */
  readonly workspaceFolder?: string | undefined;
  /** Which file and folder these are on the disk. An approval is not bound to it, but a start is. */
  readonly checked?: CheckedLaunch | undefined;
}

/** Everything that an approval of a launch covers, as flat named facts that can be stored, shown and compared. */
export type LaunchFacts = Readonly<Record<string, string>>;

/**
 * Says what would be started or contacted, with what, how far it is kept apart, and what it may call its
 * tools. References count as they are written, so that a new value of a variable asks nothing. A value
 * that may be a secret is there as a digest only, under a name of its own.
 */
export function launchFacts(config: ServerConfig, place: LaunchPlace = {}): LaunchFacts {
  const { commandPath, folder, workspaceFolder } = place;
  const facts = [
    ...transportFacts(config),
    ...named("auth", config.auth),
    ["isolation", config.isolation === undefined ? "off" : "on"] as const,
    ...named("isolation", config.isolation ?? {}),
    // It starts nothing, but whoever approves the server agrees not to be asked about some of its tools.
    ...(config.skipReadOnlyPrompts ? [["skipReadOnlyPrompts", "true"] as const] : []),
    ...namingFacts(config),
    ...(commandPath === undefined ? [] : [["commandPath", commandPath] as const]),
    ...(folder === undefined ? [] : [["folder", folder] as const]),
    ...(workspaceFolder === undefined ? [] : [["workspaceFolder", workspaceFolder] as const]),
    // What a person is told when they are asked may not become something else.
    ...(config.inputs ?? []).map(
      ({ id, ...asked }) => [`inputs.${id}`, canonicalJson(asked)] as const,
    ),
  ];
  return Object.fromEntries(facts);
}

/** The name of the value that a fact is only a digest of; undefined for a fact that can be shown. */
export function coveredName(factName: string): string | undefined {
  return factName.startsWith(digestOf) ? factName.slice(digestOf.length) : undefined;
}

/** Leaves out the place of the launch, so that it can be told without a look at the machine. */
export function entryIdOf(facts: LaunchFacts): EntryId {
  const { commandPath: _file, folder: _folder, workspaceFolder: _workspace, ...entry } = facts;
  return entryHash(entry) as EntryId;
}

/**
 * Covers what is started or contacted. A program of a project is another one in another project, even
 * where both entries read the same: what they name lies beside the file. Whoever knows the id of the entry gives it:
 * mostly both cover the same facts, and one hash serves both.
 */
export function consentIdOf(
  facts: LaunchFacts,
  { layer, path }: Provenance,
  entryId: EntryId = entryIdOf(facts),
): ConsentId {
  const started = Object.entries(facts).filter(([name]) => !placeAndNaming.has(name));
  const isWholeEntry = started.length === Object.keys(facts).length;
  const identity = isWholeEntry ? entryId : entryHash(Object.fromEntries(started));
  const isProgramOfProject = isOfProject({ layer }) && facts["kind"] === "stdio";
  const id = isProgramOfProject ? canonicalHash({ identity, file: path ?? "" }) : identity;
  return id as ConsentId;
}

/** Covers all of the facts, which have to name the place of the launch. */
export function launchIdOf(facts: LaunchFacts): LaunchId {
  return canonicalHash(facts) as LaunchId;
}

type Fact = readonly [name: string, value: string];

function namingFacts(config: ServerConfig): readonly Fact[] {
  return namingKeys.flatMap((key): readonly Fact[] => {
    const value = config[key];
    // An empty list of allowed tools allows none; one of blocked tools says nothing.
    if (value === undefined || (key === "disabledTools" && value.length === 0)) return [];
    return [[key, typeof value === "string" ? value : canonicalJson(value.toSorted())]];
  });
}

function transportFacts(config: ServerConfig): readonly Fact[] {
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
      return [
        ["kind", kind],
        ["command", command],
        ...args.map((arg, index) => textFact(`args.${index}`, arg)),
        ...(cwd === undefined ? [] : [["cwd", cwd] as const]),
        ...named("env", env),
        ...named("", { ...rest, envPassthrough: rest.envPassthrough.toSorted() }),
      ];
    }
    case "http":
    case "streamable-http":
    case "sse":
    case "http-post":
    case "rest": {
      const { kind, url, headers, ...rest } = transport;
      return [
        ["kind", kind],
        ["url", withoutEditions(url.toString())],
        ...(SecretText.is(url) ? [textFact("url", url)] : []),
        ...named("headers", headers),
        ...named("", rest),
      ];
    }
  }
}

/** Makes one fact per key; a value that is no text counts by its JSON. */
function named(prefix: string, values: object): readonly Fact[] {
  return Object.entries(values).map(([key, value]: [string, unknown]) => {
    const isText = typeof value === "string" || SecretText.is(value);
    return textFact(
      prefix === "" ? key : `${prefix}.${key}`,
      isText ? value : canonicalJson(value),
    );
  });
}

function textFact(name: string, value: ConfigText): Fact {
  if (typeof value === "string") return [name, withoutEditions(value)];
  const hash = canonicalHash(withoutEditions(value.reveal()));
  return [`${digestOf}${name}`, `sha256:${hash.slice(0, 32)}`];
}
