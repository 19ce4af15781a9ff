import { type PackageKind, resembledPackage } from "./well-known-packages.ts";

/** A package that a command such as `npx` would fetch and run. */
export interface FoundPackage {
  readonly kind: PackageKind;
  /** As it is written, with its version. */
  readonly spec: string;
  readonly name: string;
  /** Absent when the newest one is taken. */
  readonly version?: string;
  /** Whether every start runs the same release. */
  readonly isPinned: boolean;
  /** The well-known name that this one is almost. */
  readonly resembles?: string;
}

interface Runner {
  readonly kind: PackageKind;
  /** Words between the command and its options: `dlx` of `pnpm dlx`. */
  readonly words: readonly string[];
  /** Options that stand alone. */
  readonly flags: readonly string[];
  /** Options whose value says which package it is. */
  readonly sources: readonly string[];
  /** Options with any other value. */
  readonly settings: readonly string[];
}

const npmOptions = {
  kind: "npm",
  flags: ["-y", "--yes", "-q", "--quiet", "-s", "--silent", "--no-install", "--offline", "--bun"],
  sources: ["-p", "--package"],
  settings: ["--cache", "--registry", "--userconfig", "--prefix", "--loglevel"],
} as const;
const pythonOptions = {
  kind: "pypi",
  flags: [
    "-q",
    "--quiet",
    "-n",
    "--no-cache",
    "--isolated",
    "--offline",
    "--refresh",
    "--native-tls",
  ],
  sources: ["--from", "--spec", "--with", "-w"],
  settings: ["-p", "--python", "-i", "--index", "--index-url", "--default-index", "--directory"],
} as const;
/** Options of `docker run`, as its help names them: letters and names that stand alone, and those with a value. */
const imageOptions = {
  flagLetters: /^[diPqt]+/,
  settingLetters: "acehlmpuvw",
  flags: new Set(
    "detach init interactive no-healthcheck privileged publish-all quiet read-only rm sig-proxy tty".split(
      " ",
    ),
  ),
  settings: new Set(
    (
      "add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cidfile cpu-shares cpus " +
      "cpuset-cpus device dns dns-option dns-search domainname entrypoint env env-file expose gpus " +
      "group-add hostname ip ip6 ipc isolation label label-file link log-driver log-opt mac-address " +
      "memory memory-swap mount name net network network-alias pid pids-limit platform publish pull " +
      "restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit " +
      "user userns uts volume volume-driver volumes-from workdir"
    ).split(" "),
  ),
} as const;

/** Commands that fetch packages, by name; several of one name are tried in this order. */
const runners: Readonly<Record<string, readonly Runner[]>> = {
  npx: [{ ...npmOptions, words: [] }],
  pnpx: [{ ...npmOptions, words: [] }],
  bunx: [{ ...npmOptions, words: [] }],
  npm: [
    { ...npmOptions, words: ["exec"] },
    { ...npmOptions, words: ["x"] },
  ],
  pnpm: [{ ...npmOptions, words: ["dlx"] }],
  yarn: [{ ...npmOptions, words: ["dlx"] }],
  bun: [{ ...npmOptions, words: ["x"] }],
  uvx: [{ ...pythonOptions, words: [] }],
  uv: [{ ...pythonOptions, words: ["tool", "run"] }],
  pipx: [{ ...pythonOptions, words: ["run"] }],
};

const containerCommands: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);

const exactRelease = /^v?\d+(?:\.\d+)*(?:[-+.]?[A-Za-z][\w.+-]*|[-+][\w.+-]+)?$/;
const commitHash = /[@#][0-9a-f]{40}$/i;

/**
 * Finds the packages that a command would fetch and run, without asking anybody; none for a command that
 * fetches nothing. `unclear` when an option is not known: then any of the words may be the package.
 */
export function findPackages(
  command: string,
  args: readonly string[],
): readonly FoundPackage[] | "unclear" {
  const name = commandName(command);
  // How entries are written for Windows.
  if (name === "cmd" && /^\/c$/i.test(args[0] ?? ""))
    return findPackages(args[1] ?? "", args.slice(2));
  if (containerCommands.has(name)) return findImage(args);
  for (const runner of runners[name] ?? []) {
    const { words } = runner;
    if (words.every((word, index) => args[index] === word))
      return readRunner(runner, args.slice(words.length));
  }
  return [];
}

function commandName(command: string): string {
  const file = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return file.toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, "");
}

function readRunner(runner: Runner, args: readonly string[]): readonly FoundPackage[] | "unclear" {
  const specs: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? "";
    const [option, value] = splitOption(word);
    if (word === "--")
      return describe(runner.kind, [...specs, ...firstIfNone(specs, args[index + 1])]);
    if (!word.startsWith("-"))
      return describe(runner.kind, [...specs, ...firstIfNone(specs, word)]);
    if (runner.flags.includes(word)) continue;
    const isSource = runner.sources.includes(option);
    if (!isSource && !runner.settings.includes(option)) return "unclear";
    if (value === undefined) index += 1;
    if (isSource) specs.push(value ?? args[index] ?? "");
  }
  return describe(runner.kind, specs);
}

/** With packages given as options, the word is the name of a program in them. */
function firstIfNone(specs: readonly string[], word: string | undefined): readonly string[] {
  return specs.length > 0 || word === undefined ? [] : [word];
}

function splitOption(word: string): readonly [option: string, value: string | undefined] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function findImage(args: readonly string[]): readonly FoundPackage[] | "unclear" {
  const start = args[0] === "container" ? 1 : 0;
  if (args[start] !== "run") return args[start]?.startsWith("-") ? "unclear" : [];
  for (let index = start + 1; index < args.length; index += 1) {
    const word = args[index] ?? "";
    if (!word.startsWith("-")) return describe("image", [word]);
    const length = imageOptionLength(word);
    if (length === undefined) return "unclear";
    index += length - 1;
  }
  return [];
}

/** Counts the words that an option takes; undefined for one that is not known. */
function imageOptionLength(word: string): 1 | 2 | undefined {
  const { flagLetters, settingLetters, flags, settings } = imageOptions;
  if (word.startsWith("--")) {
    const [option, value] = splitOption(word);
    const name = option.slice(2);
    if (flags.has(name)) return 1;
    if (!settings.has(name)) return undefined;
    return value === undefined ? 2 : 1;
  }
  // `-it` are two; of `-itp80:80` the last has its value with it.
  const letters = word.slice(1);
  const setting = letters.replace(flagLetters, "");
  if (setting === "") return letters === "" ? undefined : 1;
  if (!settingLetters.includes(setting.charAt(0))) return undefined;
  return setting.length === 1 ? 2 : 1;
}

function describe(kind: PackageKind, specs: readonly string[]): readonly FoundPackage[] {
  return specs.filter((spec) => !isLocal(kind, spec)).map((spec) => describePackage(kind, spec));
}

/** A folder or file of this machine is fetched from nowhere. */
function isLocal(kind: PackageKind, spec: string): boolean {
  return (
    kind !== "image" && (spec === "" || /^(?:\.{1,2}$|[./~\\]|file:|[A-Za-z]:[\\/])/.test(spec))
  );
}

/** Splits a name with or without a version, and says whether it means the same release tomorrow. */
function describePackage(kind: PackageKind, spec: string): FoundPackage {
  const { name, version, isPinned } = splitSpec(kind, spec);
  const resembles = resembledPackage(kind, name);
  return {
    kind,
    spec,
    name,
    ...(version === undefined ? {} : { version }),
    isPinned,
    ...(resembles === undefined ? {} : { resembles }),
  };
}

interface SplitSpec {
  readonly name: string;
  readonly version: string | undefined;
  readonly isPinned: boolean;
}

function splitSpec(kind: PackageKind, spec: string): SplitSpec {
  if (kind === "image") {
    const [tagged = "", digest] = spec.split("@");
    const tagAt = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
    const name = tagAt === -1 ? tagged : tagged.slice(0, tagAt);
    const tag = tagAt === -1 ? undefined : tagged.slice(tagAt + 1);
    // A tag can be moved to another image; a digest cannot.
    return { name, version: digest ?? tag, isPinned: /^sha256:[0-9a-f]{64}$/.test(digest ?? "") };
  }
  if (isAddress(spec)) return { name: spec, version: undefined, isPinned: commitHash.test(spec) };
  const pattern =
    kind === "npm" ? /^(@?[^@]+)(?:@(.*))?$/s : /^([\w.-]+)(?:\[[^\]]*\])?(?:(?:===?|@)(.*)|.+)?$/s;
  const [, name = spec, version] = pattern.exec(spec) ?? [];
  // An npm release has three numbers; fewer are a range.
  const isWhole = kind === "pypi" || /^v?\d+\.\d+\.\d+/.test(version ?? "");
  const isPinned = version !== undefined && isWhole && exactRelease.test(version);
  return { name, version: version === "" ? undefined : version, isPinned };
}

/** `github:user/repo`, `git+https://…`, a tarball: whoever holds the address decides what it gives. */
function isAddress(spec: string): boolean {
  return /^[a-z+]+:/i.test(spec) || /^[^@][^/@]*\/[^/]+$/.test(spec);
}
