import { isRecord } from "../keys/check-value.ts";
import { entrySpellings } from "../keys/config-keys.ts";

type RawEntry = Readonly<Record<string, unknown>>;

/** The two keys under which files hold servers: `mcpServers` is what most programs read. */
export type ContainerName = "servers" | "mcpServers";

export interface ConvertedEntry {
  readonly entry: RawEntry;
  /** What other programs do not understand of it. */
  readonly notes: readonly string[];
}

/** Keys that the programs which read `mcpServers` have in common. */
const commonKeys: ReadonlySet<string> = new Set([
  "name",
  "command",
  "args",
  "cwd",
  "env",
  "url",
  "headers",
  "transport",
  "disabled",
  // These change nothing for a program that does not know them.
  "importedFrom",
  "expandArgs",
  "inputs",
]);
/** Words of other programs for a way of speaking to a server. */
const commonTypes: Readonly<Record<string, string>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  sse: "sse",
};

/** Writes an entry as files with that key have it. What cannot be said there stays as it is, and is noted. */
export function convertEntry(entry: RawEntry, to: ContainerName): ConvertedEntry {
  return to === "servers" ? { entry: forServers(entry), notes: [] } : forMcpServers(entry);
}

function forServers(entry: RawEntry): RawEntry {
  return mapKeys(entry, (name, key, value) => {
    if (name === "disabled") return value === true ? { enabled: false } : {};
    return { [name === "url" ? "url" : key]: value };
  });
}

function forMcpServers(given: RawEntry): ConvertedEntry {
  const notes: string[] = [];
  const entry = mapKeys(withFlatTransport(given), (name, key, value) => {
    switch (name) {
      case "command": {
        if (!Array.isArray(value) || value.length === 0) return { command: value };
        const [command, ...args] = value as unknown[];
        return { command, ...(args.length === 0 ? {} : { args }) };
      }
      case "args":
        return Array.isArray(given["command"]) ? {} : { args: value };
      case "enabled":
        return value === false ? { disabled: true } : {};
      case "url":
        return { url: value };
      case "transport": {
        const type = typeof value === "string" ? commonTypes[value] : undefined;
        if (type !== undefined) return { type };
        notes.push(`only Plugboard speaks ${JSON.stringify(value)}`);
        return { [key]: value };
      }
      case "envPassthrough":
        if (!isTexts(value)) return { [key]: value };
        notes.push(`"${key}" became "env": a server does not start where one of them is not set`);
        return { env: Object.fromEntries(value.map((variable) => [variable, `\${${variable}}`])) };
      case "auth":
        if (isRecord(value) && value["type"] === "bearer")
          return { headers: { Authorization: `Bearer ${String(value["token"])}` } };
        if (value === "none" || (isRecord(value) && value["type"] === "none")) return {};
        break;
      default:
    }
    if (!commonKeys.has(name)) notes.push(`"${key}" is known to Plugboard alone`);
    return { [key]: value };
  });
  const isRemote = "url" in entry && !("type" in entry) && !("transport" in entry);
  return { entry: isRemote ? { type: "http", ...entry } : entry, notes };
}

/** Moves the keys of a `transport` object beside the entry's own. */
function withFlatTransport(entry: RawEntry): RawEntry {
  const { transport, ...rest } = entry;
  if (!isRecord(transport)) return entry;
  const { kind, type = kind, ...keys } = transport;
  return { ...(type === undefined ? {} : { transport: type }), ...keys, ...rest };
}

/** Makes an entry of other keys; values of `env` and `headers` may come from several. */
function mapKeys(
  entry: RawEntry,
  map: (name: string, key: string, value: unknown) => RawEntry,
): RawEntry {
  const mapped: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entry))
    for (const [name, made] of Object.entries(map(entrySpellings.get(key) ?? key, key, value))) {
      const before = mapped[name];
      mapped[name] = isRecord(before) && isRecord(made) ? { ...made, ...before } : made;
    }
  return mapped;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
