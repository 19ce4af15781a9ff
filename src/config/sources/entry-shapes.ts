import { isRecord } from "../keys/check-value.ts";
import { needsExpansion } from "../variables/variable-reference.ts";
import type { EntryShapeName } from "./source-table.ts";

type RawEntry = Readonly<Record<string, unknown>>;

/** An entry of another program in the keys of ours. */
export interface TranslatedEntry {
  readonly entry: RawEntry;
  /** The key of the other program that each key of ours was made of. */
  readonly origins: ReadonlyMap<string, string>;
  /** Keys of the other program that have no counterpart here. */
  readonly lost: readonly { readonly key: string; readonly reason: string }[];
}

/** Gives the keys of ours that stand for a key of another program, or in words why there are none. */
type KeyRule = (value: unknown, entry: RawEntry) => RawEntry | string;

interface EntryShape {
  /** Keys that are not here mean the same in both programs, or are reported as unknown. */
  readonly rules: Readonly<Record<string, KeyRule>>;
  /** Rewrites references to variables in the form that this host reads. */
  readonly respellReferences?: (text: string) => string;
  /** True when the program replaces references in arguments, too. */
  readonly expandsArgs: boolean;
}

const rename =
  (key: string): KeyRule =>
  (value) => ({ [key]: value });
const lose =
  (reason: string): KeyRule =>
  () =>
    reason;
const omit: KeyRule = () => ({});

const noCounterpart = "has no counterpart here";
const approvalsStay = "is not taken over: what may run without a question is decided here";

/** Reads the sign-in settings that several programs keep under `oauth`; their keys are those of `auth`. */
const oauth: KeyRule = (value) => {
  if (!isRecord(value)) return value === false ? {} : { auth: value };
  const { enabled, ...rest } = value;
  return enabled === false ? {} : { auth: { type: "oauth", ...rest } };
};

/** Programs by the way they write entries, as their documentation and sources have it. */
const entryShapes: Readonly<Record<EntryShapeName, EntryShape>> = {
  plain: { rules: {}, expandsArgs: false },
  "claude-code": {
    rules: {
      // Milliseconds there, seconds here.
      timeout: rename("callTimeoutMs"),
      oauth,
      headersHelper: lose("is a program that makes headers, which this host does not run"),
      alwaysLoad: lose(noCounterpart),
    },
    expandsArgs: true,
  },
  cursor: {
    rules: {
      auth: (value) => {
        if (!isRecord(value) || !("CLIENT_ID" in value)) return { auth: value };
        const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = value;
        return { auth: { type: "oauth", ...definedOnly({ clientId, clientSecret, scopes }) } };
      },
    },
    expandsArgs: true,
  },
  vscode: {
    rules: {
      oauth,
      dev: lose(noCounterpart),
      gallery: omit,
      version: omit,
    },
    expandsArgs: true,
  },
  windsurf: { rules: {}, expandsArgs: true },
  codex: {
    rules: {
      name: omit,
      url: (value) => ({ url: value, transport: "streamable-http" }),
      env_vars: (value) => ({ envPassthrough: Array.isArray(value) ? value.map(nameOf) : value }),
      http_headers: rename("headers"),
      env_http_headers: (value) => ({ headers: mapMembers(value, referenceTo) }),
      bearer_token_env_var: (value) => ({ auth: { type: "bearer", token: referenceTo(value) } }),
      bearer_token: (value) => ({ auth: { type: "bearer", token: value } }),
      startup_timeout_sec: rename("connectTimeout"),
      startup_timeout_ms: (value, entry) =>
        entry["startup_timeout_sec"] === undefined ? { connectTimeoutMs: value } : {},
      tool_timeout_sec: rename("callTimeout"),
      scopes: (value) => ({ auth: { type: "oauth", scopes: value } }),
      oauth,
      oauth_resource: lose(noCounterpart),
      required: lose(noCounterpart),
      supports_parallel_tool_calls: lose(noCounterpart),
      experimental_environment: lose(noCounterpart),
      default_tools_approval_mode: lose(approvalsStay),
      tools: lose(approvalsStay),
    },
    expandsArgs: false,
  },
  gemini: {
    rules: {
      httpUrl: (value) => ({ url: value, transport: "streamable-http" }),
      timeout: rename("timeoutMs"),
      includeTools: rename("enabledTools"),
      excludeTools: rename("disabledTools"),
      oauth,
      trust: lose(approvalsStay),
      description: omit,
      authProviderType: lose(noCounterpart),
      targetAudience: lose(noCounterpart),
      targetServiceAccount: lose(noCounterpart),
    },
    // `$NAME` is a reference there, and so is `${NAME}`.
    respellReferences: (text) => text.replaceAll(/\$([A-Za-z_]\w*)/g, "$${$1}"),
    expandsArgs: true,
  },
  opencode: {
    rules: {
      type: (value) => (value === "local" || value === "remote" ? {} : { type: value }),
      environment: rename("env"),
      // How long its list of tools may take, in milliseconds.
      timeout: (value) =>
        typeof value === "number" ? { connectTimeoutMs: value } : "is not understood",
      oauth,
    },
    respellReferences: (text) => text.replaceAll(/(?<!\$)\{((?:env|file):[^{}]+)\}/g, "$${$1}"),
    expandsArgs: true,
  },
};

/** Rewrites an entry of another program. What is no entry at all stays as it is, for the parser to say so. */
export function translateEntry(shapeName: EntryShapeName, given: RawEntry): TranslatedEntry {
  const shape = entryShapes[shapeName];
  const lost: { readonly key: string; readonly reason: string }[] = [];
  const entry: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  for (const [key, value] of Object.entries(given)) {
    const rule = Object.hasOwn(shape.rules, key) ? shape.rules[key] : undefined;
    const translated = rule === undefined ? { [key]: value } : rule(value, given);
    if (typeof translated === "string") lost.push({ key, reason: translated });
    else {
      merge(entry, translated);
      for (const own of Object.keys(translated)) origins.set(own, key);
    }
  }
  for (const key of ["env", "headers"]) if (key in entry) entry[key] = withoutScalars(entry[key]);
  const { respellReferences } = shape;
  const respelled = respellReferences === undefined ? entry : mapTexts(entry, respellReferences);
  const { auth } = respelled;
  return {
    entry: {
      ...respelled,
      ...(isRecord(auth) && "token" in auth
        ? { auth: { type: "bearer", token: auth["token"] } }
        : {}),
      ...(shape.expandsArgs && hasReferenceInArgs(respelled) ? { expandArgs: true } : {}),
    },
    origins,
    lost,
  };
}

/** Adds members; headers and sign-in may come from several keys. */
function merge(entry: Record<string, unknown>, added: RawEntry): void {
  for (const [key, value] of Object.entries(added)) {
    const before = entry[key];
    entry[key] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
}

function definedOnly(members: RawEntry): RawEntry {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function referenceTo(name: unknown): unknown {
  return typeof name === "string" ? `\${${name}}` : name;
}

/** Reads a name that may be written as `{ name, source }`. */
function nameOf(value: unknown): unknown {
  return isRecord(value) ? value["name"] : value;
}

function mapMembers(value: unknown, map: (member: unknown) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]));
}

/** Writes numbers and flags as the text that other programs pass on, and leaves out what is `null`. */
function withoutScalars(values: unknown): unknown {
  if (!isRecord(values)) return values;
  const members = Object.entries(values).filter(([, value]) => value !== null);
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      typeof value === "number" || typeof value === "boolean" ? String(value) : value,
    ]),
  );
}

function mapTexts(entry: RawEntry, map: (text: string) => string): RawEntry {
  const mapValue = (value: unknown): unknown => {
    if (typeof value === "string") return map(value);
    if (Array.isArray(value)) return value.map(mapValue);
    return mapMembers(value, mapValue);
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, mapValue(value)]));
}

function hasReferenceInArgs({ command, args }: RawEntry): boolean {
  const words: readonly unknown[] = [
    ...(Array.isArray(command) ? (command as unknown[]).slice(1) : []),
    ...(Array.isArray(args) ? (args as unknown[]) : []),
  ];
  return words.some((word) => typeof word === "string" && needsExpansion(word));
}
