import {
  type CheckContext,
  checkKeys,
  type FieldPath,
  isRecord,
  quoteName,
} from "../keys/check-value.ts";
import {
  type CheckedEntry,
  entryKeys,
  identityKeys,
  type TransportName,
} from "../keys/config-keys.ts";

/** A checked entry with one key per setting; alternative spellings have been resolved. */
export interface EntryValues extends Omit<
  CheckedEntry,
  "name" | "transport" | "disabled" | "timeout" | "timeoutMs" | "connectTimeout" | "callTimeout"
> {
  readonly transport?: TransportName;
}

export interface ReadEntry {
  readonly values: EntryValues;
  /** Finds the path of a key inside the entry, as it is written. */
  readonly at: (key: string) => FieldPath;
}

/** Reads one entry object. Flaws go to `context.report`. */
export function readEntry(
  source: Readonly<Record<string, unknown>>,
  context: CheckContext,
): ReadEntry {
  const checked = checkKeys(entryKeys, source, [], context);
  const paths = new Map(checked.paths);
  const at = (key: string): FieldPath => paths.get(key) ?? [key];
  const { name: _name, transport, ...rest } = checked.values;
  const isObject = typeof transport === "object";
  const flat = isObject ? liftTransport(rest, transport, paths, context) : rest;
  const kind = isObject ? transport.kind : transport;

  const enabled = readEnabled(flat, at, context);
  const both = readDuration("timeout", flat, at, context);
  const connect = readDuration("connectTimeout", flat, at, context) ?? both;
  const call = readDuration("callTimeout", flat, at, context) ?? both;
  return {
    values: {
      ...flat,
      ...(kind === undefined ? {} : { transport: kind }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(connect === undefined ? {} : { connectTimeoutMs: connect }),
      ...(call === undefined ? {} : { callTimeoutMs: call }),
    },
    at,
  };
}

/** Reads a duration in milliseconds from whichever of its two keys is given. */
function readDuration(
  key: "timeout" | "connectTimeout" | "callTimeout",
  values: Pick<CheckedEntry, typeof key | `${typeof key}Ms`>,
  at: ReadEntry["at"],
  { report }: CheckContext,
): number | undefined {
  const [inSeconds, inMs] = [values[key], values[`${key}Ms`]];
  if (inSeconds !== undefined && inMs !== undefined)
    report("error", at(`${key}Ms`), `"${key}" and "${key}Ms" exclude each other`);
  // Many hosts count milliseconds, so hours of waiting are more likely a mix-up than intended.
  if (inSeconds !== undefined && inSeconds > 3_600)
    report("warning", at(key), `"${key}" is in seconds; for milliseconds write "${key}Ms"`);
  const ms = inMs ?? (inSeconds === undefined ? undefined : inSeconds * 1_000);
  // Rounding a very short limit to 0 would turn it off.
  return ms === undefined || ms === 0 ? ms : Math.max(1, Math.round(ms));
}

function readEnabled(
  { enabled, disabled }: Pick<CheckedEntry, "enabled" | "disabled">,
  at: ReadEntry["at"],
  { report }: CheckContext,
): boolean | undefined {
  if (disabled === undefined) return enabled;
  if (enabled === disabled)
    report("error", at("disabled"), '"enabled" and "disabled" contradict each other');
  return enabled ?? !disabled;
}

/** Moves the keys of a transport object beside the entry's own. */
function liftTransport<T extends object>(
  entry: T,
  transport: Exclude<CheckedEntry["transport"], string | undefined>,
  paths: Map<string, FieldPath>,
  context: CheckContext,
): T & Omit<typeof transport, "kind"> {
  const { kind: _kind, ...keys } = transport;
  const prefix = paths.get("transport") ?? ["transport"];
  for (const key of Object.keys(keys)) {
    const path = [...prefix, key];
    if (Object.hasOwn(entry, key))
      context.report("error", path, `${quoteName(key)} stands both in "transport" and beside it`);
    paths.set(key, path);
  }
  return { ...entry, ...keys };
}

/** Reads the `defaults` of a file: keys that apply to every entry without its own. */
export function readDefaults(source: unknown, context: CheckContext): EntryValues {
  if (!isRecord(source)) {
    context.report("error", [], '"defaults" must be an object');
    return {};
  }
  const { values, at } = readEntry(source, context);
  const shared = Object.entries(values).filter(([key]) => !identityKeys.has(key));
  for (const key of Object.keys(values)) {
    if (identityKeys.has(key))
      context.report("error", at(key), `"${key}" belongs to one server and cannot be a default`);
  }
  return Object.fromEntries(shared);
}
