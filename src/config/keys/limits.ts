const second = 1_000;
const kib = 1_024;
const mib = 1_024 * kib;

/** Every bound of the host with its default; `createHost({ limits })` replaces single values. */
export const defaultLimits = {
  callTimeoutMs: 30 * second,
  connectTimeoutMs: 30 * second,
  /** The deadline of a start by a package runner, which may have to download the package. */
  packageRunnerConnectTimeoutMs: 120 * second,
  /** The longest time of a call. Progress extends its deadline, but never past this. */
  totalCallTimeoutMs: 600 * second,
  /** A server that nobody has used for this long is stopped until it is needed again; `0` means never. */
  idleStopMs: 0,
  stopGraceMs: 5 * second,
  stopTermAfterMs: 1 * second,
  maxMessageBytes: 10 * mib,
  maxResultBytes: 10 * mib,
  /** The most that a session may keep in its state. */
  maxStateBytes: 10 * mib,
  maxJsonDepth: 200,
  /** The most keys and values of one message; building a million of them takes some tenths of a second. */
  maxJsonValues: 1_000_000,
  maxSchemaBytes: 256 * kib,
  maxSchemaDepth: 64,
  maxSchemaNodes: 10_000,
  schemaTimeoutMs: 250,
  maxTools: 5_000,
  maxPages: 64,
  listTimeoutMs: 30 * second,
  /** The deadline of each server, its start included, when resources or prompts of all servers are listed. */
  contentListTimeoutMs: 5 * second,
  maxUnhandledNotifications: 100,
  maxNotificationsPerSecond: 200,
  notificationBurst: 1_000,
  maxStderrBytes: 256 * kib,
  /** The most that is kept of the log of one server, in two files; `0` keeps none. */
  maxServerLogBytes: 2 * mib,
  maxInputRounds: 8,
  oauthDocumentBytes: 256 * kib,
  oauthTimeoutMs: 10 * second,
  maxTtlMs: 3_600 * second,
  /** A server that is silent for this long is usable within 1.5 s all the same. */
  eraProbeMs: 1.4 * second,
  /** How long a server that missed a deadline may take to show that it is alive. */
  proofOfLifeMs: 10 * second,
} as const satisfies Record<string, number>;

/** Characters of the name of a server. */
export const maxServerName = 128;

/**
 * The number of tools of one server that are accepted without a person, over all its lists: as many as one
 * list may have by default. Further tools wait for a person, so a server that keeps naming new ones cannot
 * fill the store.
 */
export const maxPinsPerServer = defaultLimits.maxTools;

export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

export function resolveLimits(overrides: Partial<Limits> = {}): Limits {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...defaultLimits, ...Object.fromEntries(given) });
}
