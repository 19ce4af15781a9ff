import type { ConfigText, Provenance, ServerConfig } from "../config/keys/server-config.ts";
import { changesExecution } from "../config/variables/executing-variables.ts";
import { variableUses } from "../config/variables/reference-uses.ts";
import { looksSecret } from "../config/variables/secret-values.ts";
import { hasReference } from "../config/variables/variable-reference.ts";
import type {
  EntryVariable,
  LaunchDifference,
  LaunchQuestion,
  PackageNotice,
  WantedVariable,
} from "../human/launch-question.ts";
import type { Approval } from "../store/rows/approval-rows.ts";
import { redact } from "../text/secrets/redact.ts";
import { reveal } from "../text/secrets/secret-text.ts";
import { escapeInvisible, quoteWord } from "../text/untrusted/escape-invisible.ts";
import type { CurrentLaunch } from "./approved-launches.ts";
import { cachedPackageVersion } from "./cached-package.ts";
import { describeTarget } from "./describe-target.ts";
import { type FoundPackage, findPackages } from "./find-packages.ts";
import { type LaunchFacts, coveredName } from "./launch-facts.ts";
import { type Machine, commandFileOf } from "./locate-launch.ts";

export interface LaunchSurroundings {
  readonly hostEnv: Machine["hostEnv"];
  /** The approvals that were given under the server's name before, newest first. */
  readonly earlier: readonly Approval[];
  /** The entry of the same name that is in force until this one is approved. */
  readonly replaced: ServerConfig | undefined;
}

/** Writes down all that a person has to know before a server starts. Looks at files of this machine only. */
export async function describeLaunch(
  config: ServerConfig,
  { facts, launchId }: CurrentLaunch,
  { hostEnv, earlier, replaced }: LaunchSurroundings,
): Promise<LaunchQuestion> {
  const { name, provenance } = config;
  const target = targetOf(config, facts);
  const difference = compareLaunches(facts, earlier, shownVariables(target));
  return {
    serverName: escapeInvisible(name),
    origin: originOf(provenance),
    ...(replaced === undefined
      ? {}
      : {
          replaces: {
            origin: originOf(replaced.provenance),
            target: escapeInvisible(describeTarget(replaced)),
          },
        }),
    launchId,
    target,
    details: detailsOf(facts),
    wants: wantedVariables(config),
    packages: await packagesOf(config, hostEnv),
    ...(difference === undefined ? {} : { difference }),
  };
}

function originOf({ layer, path, line }: Provenance): LaunchQuestion["origin"] {
  return {
    layer,
    ...(path === undefined ? {} : { path: escapeInvisible(path) }),
    ...(line === undefined ? {} : { line }),
  };
}

/** Takes the file and folder from the facts, not from a second look: what is shown is what a yes is bound to. */
function targetOf({ transport }: ServerConfig, facts: LaunchFacts): LaunchQuestion["target"] {
  if (transport.kind !== "stdio") {
    // One given in code is never asked about.
    const { url, headers } = "url" in transport ? transport : { url: "", headers: {} };
    return {
      kind: "address",
      transport: transport.kind,
      url: exactAddress(reveal(url)),
      headers: Object.keys(headers).map((name) => escapeInvisible(name)),
    };
  }
  const { command, args, env, envPassthrough, inheritEnv } = transport;
  const file = commandFileOf(facts);
  return {
    kind: "process",
    // Arguments are shown as they are, whatever they look like: what is masked could be the attack.
    commandLine: [command, ...args].map((word) => quoteWord(reveal(word))).join(" "),
    file: file.status === "found" ? { ...file, path: escapeInvisible(file.path) } : file,
    folder: escapeInvisible(facts["folder"] ?? ""),
    env: entryVariables(env),
    envPassthrough: envPassthrough.map((name) => escapeInvisible(name)),
    inheritEnv,
  };
}

function entryVariables(env: Readonly<Record<string, ConfigText>>): readonly EntryVariable[] {
  return Object.entries(env).map(([name, given]) => {
    const value = reveal(given);
    const isExecuting = changesExecution(name);
    return {
      name: escapeInvisible(name),
      ...(isExecuting || !looksSecret(name, value) ? { value: escapeInvisible(value) } : {}),
      changesExecution: isExecuting,
    };
  });
}

/** Values that the question shows, by the name of their fact, which holds a digest only. */
function shownVariables(target: LaunchQuestion["target"]): ReadonlyMap<string, string> {
  const shown = target.kind === "process" ? target.env : [];
  return new Map(
    shown.flatMap(({ name, value }) => (value === undefined ? [] : [[`env.${name}`, value]])),
  );
}

/** Shows the host as it is looked up, in full; the rest of the address may hold a credential. */
function exactAddress(url: string): string {
  const { scheme, rest } = splitAddress(url);
  return `${escapeInvisible(scheme)}${hostOf(url)}${escapeInvisible(redact(rest))}`;
}

function splitAddress(url: string) {
  const [, scheme = "", authority = "", rest = ""] =
    /^([^:/?#]*:[\\/]*)([^\\/?#]*)(.*)$/s.exec(url) ?? [];
  return { scheme, authority, rest };
}

function hostOf(url: string): string {
  const isComplete = URL.canParse(url) && !hasReference(url);
  return escapeInvisible(isComplete ? new URL(url).host : splitAddress(url).authority);
}

/** Facts that the target shows already. */
const told =
  /^(?:kind|command|commandPath|folder|cwd|url|envPassthrough|inheritEnv)$|^(?:args|env|headers)\./;
/** Values that a plain entry has, which are not worth a line. */
const usual: Readonly<Record<string, string>> = {
  method: "POST",
  allowPrivateNetwork: "false",
  expandArgs: "false",
  "auth.type": "none",
  isolation: "off",
};

function detailsOf(facts: LaunchFacts): LaunchQuestion["details"] {
  return Object.entries(facts).flatMap(([factName, value]) => {
    const covered = coveredName(factName);
    const name = covered ?? factName;
    if (told.test(name) || usual[name] === value) return [];
    return [
      {
        name: escapeInvisible(name),
        value: covered === undefined ? escapeInvisible(value) : notShown,
      },
    ];
  });
}

function wantedVariables(config: ServerConfig): readonly WantedVariable[] {
  const { transport, auth } = config;
  return variableUses(config).map(({ variable: written, field }): WantedVariable => {
    const variable = escapeInvisible(written);
    const goesTo = escapeInvisible(placeOf(field));
    if (!("url" in transport)) return { variable, goesTo };
    // Secrets of an OAuth client are sent to where tokens come from, which the server may choose.
    const isForSignIn = auth.type === "oauth" && field.startsWith("auth.");
    const url = isForSignIn ? (auth.tokenUrl ?? "") : reveal(transport.url);
    const host = hostOf(url);
    return host === "" ? { variable, goesTo } : { variable, goesTo, host };
  });
}

function placeOf(field: string): string {
  const [group = "", ...rest] = field.split(".");
  const name = rest.join(".");
  switch (group) {
    case "headers":
      return `header ${name}`;
    case "env":
      return `variable ${name}`;
    case "args":
      return `argument ${Number(name) + 1}`;
    case "url":
      return "address";
    default:
      return field;
  }
}

async function packagesOf(
  { transport }: ServerConfig,
  hostEnv: Machine["hostEnv"],
): Promise<LaunchQuestion["packages"]> {
  if (transport.kind !== "stdio") return [];
  const found = findPackages(transport.command, transport.args.map(reveal));
  if (found === "unclear") return found;
  return await Promise.all(found.map((it) => noticeOf(it, hostEnv)));
}

async function noticeOf(
  { kind, spec, name, isPinned, resembles }: FoundPackage,
  hostEnv: Machine["hostEnv"],
): Promise<PackageNotice> {
  const isLoose = kind === "npm" && !isPinned;
  const version = isLoose ? await cachedPackageVersion(name, hostEnv) : undefined;
  return {
    spec: escapeInvisible(spec),
    isPinned,
    ...(version === undefined ? {} : { pinnedSpec: `${name}@${version}` }),
    ...(resembles === undefined ? {} : { resembles }),
  };
}

const notShown = "(not shown)";
const another = "(another value, not shown)";

/** Something a launch depends on, as a person calls it. */
interface Trait {
  readonly shown: string;
  /** Everything the trait consists of: two traits that look alike may differ here. */
  readonly exact: string;
}

/**
 * Compares a launch with the earlier approval that is most like it, the newest of several; undefined
 * without one. `values` are those that a person is shown though the facts hold a digest.
 */
function compareLaunches(
  facts: LaunchFacts,
  earlier: readonly Approval[],
  values: ReadonlyMap<string, string> = new Map(),
): LaunchDifference | undefined {
  const likeness = ({ facts: other }: Approval): number =>
    Object.entries(facts).filter(([name, value]) => other[name] === value).length;
  // Sorting keeps the order of equals, which is newest first.
  const [nearest] = earlier.toSorted((one, other) => likeness(other) - likeness(one));
  if (nearest === undefined) return undefined;
  const [before, now] = [traitsOf(nearest.facts), traitsOf(facts)];
  const changes = [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    if (was?.exact === is?.exact) return [];
    const looksAlike = was?.shown === is?.shown;
    const shownName = escapeInvisible(name);
    const value = values.get(shownName);
    return [
      {
        name: shownName,
        ...(was === undefined ? {} : { was: was.shown }),
        ...(is === undefined ? {} : { is: value ?? (looksAlike ? another : is.shown) }),
      },
    ];
  });
  return { approvedAt: nearest.approvedAt, changes };
}

function traitsOf(facts: LaunchFacts): ReadonlyMap<string, Trait> {
  const traits = new Map<string, Trait>();
  const words: Trait[] = [];
  for (const { factName, covered, name, value } of inOrder(facts)) {
    const exact = JSON.stringify([factName, value]);
    // The folder tells it, also where the entry leaves it to the host.
    if (name === "cwd" && facts["folder"] !== undefined) continue;
    if (/^args\.\d+$/.test(name))
      words.push({ shown: covered === undefined ? quoteWord(value) : notShown, exact });
    else {
      const label = name === "commandPath" ? "file" : name;
      const known = traits.get(label);
      // A value that is shown in part has a second fact, of its hidden part.
      const shown = covered === undefined ? escapeInvisible(value) : (known?.shown ?? notShown);
      traits.set(label, { shown, exact: `${known?.exact ?? ""}${exact}` });
    }
  }
  if (words.length > 0)
    traits.set("arguments", {
      shown: words.map(({ shown }) => shown).join(" "),
      exact: words.map(({ exact }) => exact).join(""),
    });
  return traits;
}

/** Sorts the facts: not every database keeps the order in which they were stored. */
function inOrder(facts: LaunchFacts) {
  const named = Object.entries(facts).map(([factName, value]) => {
    const covered = coveredName(factName);
    return { factName, covered, name: covered ?? factName, value };
  });
  const { compare } = new Intl.Collator("en", { numeric: true });
  return named.toSorted(
    (one, other) => compare(one.name, other.name) || compare(one.factName, other.factName),
  );
}
