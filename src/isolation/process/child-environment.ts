/** What every server may see of the host's environment; anything else has to be named in its entry. */
export const SAFE_ENV_KEYS = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TERM",
  "SHELL",
  "TMPDIR",
  "TMP",
  "TEMP",
] as const;

/** Without these a Windows program finds neither its profile nor the system's libraries. */
const windowsEnvKeys = [
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "PATHEXT",
  "SYSTEMROOT",
  "COMSPEC",
] as const;

// Set by the programs that started us, for us: a server that inherits one talks to our parent's
// channel or takes our launcher's settings for its own.
const implicitKeys = /^(?:NODE_CHANNEL_.*|NODE_UNIQUE_ID|NODE_V8_COVERAGE|npm_.*|INIT_CWD)$/i;

export interface ChildEnvironmentOptions {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** Values as the server is to see them: `${VAR}` is already expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of host variables to hand on; one that is not set is left out. */
  readonly envPassthrough: readonly string[];
  readonly inheritEnv: "safe" | "none" | "all";
  readonly platform: NodeJS.Platform;
}

/**
 * The whole environment of a server's process, computed from nothing but the options: explicit `env`
 * wins over `envPassthrough`, which wins over what is inherited.
 */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { hostEnv, env, envPassthrough, inheritEnv, platform } = options;
  const isWindows = platform === "win32";
  // One variable may be spelled `Path` or `PATH` on Windows, and only one of them may be passed on.
  const key = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const lookUp = isWindows ? foldedLookup(hostEnv) : exactLookup(hostEnv);
  const child = new Map<string, { readonly name: string; readonly value: string }>();

  const handOn = (name: string): void => {
    const value = lookUp(name);
    if (value !== undefined) child.set(key(name), { name, value });
  };
  for (const name of inheritedNames(inheritEnv, hostEnv, isWindows)) handOn(name);
  for (const name of envPassthrough) handOn(name);
  for (const [name, value] of Object.entries(env)) child.set(key(name), { name, value });

  // No prototype: a variable called `__proto__` is a variable like any other.
  const result = Object.create(null) as Record<string, string>;
  for (const { name, value } of child.values()) result[name] = value;
  return result;
}

type Lookup = (name: string) => string | undefined;

function foldedLookup(hostEnv: ChildEnvironmentOptions["hostEnv"]): Lookup {
  const values = new Map(
    Object.entries(hostEnv).map(([name, value]) => [name.toUpperCase(), value]),
  );
  return (name) => values.get(name.toUpperCase());
}

/** Reads what is asked for and nothing else: an environment may be large, and servers many. */
function exactLookup(hostEnv: ChildEnvironmentOptions["hostEnv"]): Lookup {
  return (name) => (Object.hasOwn(hostEnv, name) ? hostEnv[name] : undefined);
}

function inheritedNames(
  inheritEnv: ChildEnvironmentOptions["inheritEnv"],
  hostEnv: ChildEnvironmentOptions["hostEnv"],
  isWindows: boolean,
): readonly string[] {
  switch (inheritEnv) {
    case "none":
      return [];
    case "safe":
      return isWindows ? [...SAFE_ENV_KEYS, ...windowsEnvKeys] : SAFE_ENV_KEYS;
    case "all":
      return Object.keys(hostEnv).filter((name) => !implicitKeys.test(name));
  }
}
