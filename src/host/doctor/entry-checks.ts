import { cachedPackage } from "../../approval/cached-package.ts";
import { locateLaunch } from "../../approval/locate-launch.ts";
import { formatOrigin } from "../../config/keys/config-problem.ts";
import {
  type HttpTransportConfig,
  isOfProject,
  type ServerConfig,
} from "../../config/keys/server-config.ts";
import { expandVariables } from "../../config/parse/expand-variables.ts";
import { unsetVariables, variableUses } from "../../config/variables/reference-uses.ts";
import { howToStore } from "../../config/variables/secret-names.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { judgeHost } from "../../isolation/network/blocked-address.ts";
import { chooseProxy } from "../../isolation/network/choose-proxy.ts";
import { configuredUrlPolicy } from "../../isolation/network/network-policy.ts";
import { reveal } from "../../text/secrets/secret-text.ts";
import type { ServerStatus } from "../host.ts";
import type { CheckId } from "./check-texts.ts";
import { type DoctorParts, type Found, ok, problem, problemOf, someOf, warning } from "./check.ts";
import { isInNodeRange } from "./node-range.ts";
import { fetchedPackages, isStdio, nodeVersionOf, packageOf } from "./server-package.ts";

/** A check that reads the entry of a server and the files of this machine, and starts nothing. */
interface EntryCheck {
  readonly id: CheckId;
  /** Undefined: the check does not apply to this kind of server. */
  readonly run: (
    status: ServerStatus,
    parts: DoctorParts,
  ) => Found | undefined | Promise<Found | undefined>;
}

/** Whether it may start at all. Nothing else is looked at for a server that may not. */
export const permissionChecks: readonly EntryCheck[] = [
  {
    id: "enabled",
    run: ({ config, provenance }) => {
      const origin = formatOrigin(provenance);
      return config.enabled ? ok(`by ${origin}`) : warning(`${origin} switches it off`);
    },
  },
  {
    id: "approved",
    run: ({ state, changedSinceApproval, provenance }) => {
      if (state === "disabled") return undefined;
      if (state !== "pending")
        return ok(isOfProject(provenance) ? "by a person" : "it needs no approval: you wrote it");
      return warning(
        changedSinceApproval
          ? "its entry changed after it was approved; nothing was started"
          : "nobody has approved it yet; nothing was started",
      );
    },
  },
];

/** What can be seen of an entry before its server is started. */
export const entryChecks: readonly EntryCheck[] = [
  { id: "variables", run: ({ config }, parts) => checkVariables(config, parts) },
  { id: "command", run: ({ config }, parts) => checkCommand(config, parts) },
  { id: "node", run: ({ config }, parts) => checkNode(config, parts) },
  { id: "package", run: ({ config }, parts) => checkPackage(config, parts) },
  { id: "address", run: ({ config }, parts) => checkAddress(config, parts) },
  { id: "proxy", run: ({ config }, parts) => checkProxy(config, parts) },
];

async function checkVariables(
  config: ServerConfig,
  { machine, secrets }: DoctorParts,
): Promise<Found | undefined> {
  const uses = variableUses(config).filter(({ kind }) => kind !== "input");
  const variables = [...new Set(uses.map(({ variable }) => variable))];
  if (variables.length === 0) return undefined;
  const [missing] = await secrets.missing(config);
  if (missing !== undefined) {
    const { name, field } = missing;
    return problem(
      `not stored: \${secret:${name}} (in "${field}")`,
      "variable_unset",
      howToStore(name, config.name, field),
    );
  }
  const unsetUses = unsetVariables(config, machine.hostEnv);
  const unset = new Map(unsetUses.map(({ variable, field }) => [variable, field]));
  if (unset.size === 0) return ok(someOf(variables));
  const places = [...unset].map(([name, field]) => `${name} (in "${field}")`);
  const [first = ""] = unset.keys();
  return problem(
    `not set: ${someOf(places)}`,
    "variable_unset",
    `export ${first} in the shell that starts Plugboard, or write \${${first}:-default}`,
  );
}

function checkCommand(config: ServerConfig, { machine }: DoctorParts): Found | undefined {
  if (!isStdio(config)) return undefined;
  const { command } = config.transport;
  const { commandPath = "not found" } = locateLaunch(config, machine);
  // A PATH that is made of variables is known when the server starts.
  if (commandPath === "not looked up") return undefined;
  if (commandPath !== "not found") return ok(commandPath);
  const folders = (machine.hostEnv["PATH"] ?? "").split(":").filter((folder) => folder !== "");
  const where = command.includes("/") ? "" : ` in the ${folders.length} folders of PATH`;
  return problem(`no program ${JSON.stringify(command)}${where}`, "command_not_found");
}

async function checkNode(
  config: ServerConfig,
  { machine }: DoctorParts,
): Promise<Found | undefined> {
  if (!isStdio(config)) return undefined;
  const manifest = await packageOf(config, machine);
  const version = await nodeVersionOf(config, machine);
  if (manifest?.nodeRange === undefined || version === undefined) return undefined;
  const evidence = `Node ${version}, and its package asks for ${manifest.nodeRange}`;
  // npm takes `engines` as advice: many packages run all the same.
  return isInNodeRange(version, manifest.nodeRange) === false ? warning(evidence) : ok(evidence);
}

async function checkPackage(
  config: ServerConfig,
  { machine }: DoctorParts,
): Promise<Found | undefined> {
  if (!isStdio(config)) return undefined;
  const packages = fetchedPackages(config);
  const [first] = packages;
  if (first === undefined) return undefined;
  const loose = packages.find(({ isPinned }) => !isPinned);
  if (loose === undefined) return ok(first.spec);
  const cached =
    loose.kind === "npm" ? await cachedPackage(loose.name, machine.hostEnv) : undefined;
  if (cached === undefined)
    return warning(`${loose.spec}: whatever release is newest runs, also one of tomorrow`);
  return warning(
    `${loose.spec}: the release that ran last is ${cached.version}, the next may be another`,
    `write ${loose.name}@${cached.version}: another one runs only when you say so`,
  );
}

function checkAddress(config: ServerConfig, parts: DoctorParts): Found | undefined {
  const address = addressOf(config, parts);
  if (address === undefined) return undefined;
  const { transport, url, text } = address;
  const refusal = judgeHost(url.hostname, configuredUrlPolicy(text, transport.allowPrivateNetwork));
  // Queries carry keys.
  return refusal === undefined ? ok(`${url.origin}${url.pathname}`) : problemOf(refusal);
}

function checkProxy(config: ServerConfig, parts: DoctorParts): Found | undefined {
  const address = addressOf(config, parts);
  if (address === undefined) return undefined;
  const { hostEnv } = parts.machine;
  try {
    const proxy = chooseProxy(address.url, hostEnv);
    if (proxy !== undefined) return ok(`${proxy.url.host}, of ${proxy.variable}`);
  } catch (error) {
    if (McpError.is(error)) return problemOf(error);
    throw error;
  }
  const isNamed = ["http_proxy", "https_proxy", "all_proxy"].some(
    (name) => (hostEnv[name] ?? hostEnv[name.toUpperCase()] ?? "") !== "",
  );
  return isNamed
    ? ok("none is used for this address, by NO_PROXY or because it is local")
    : undefined;
}

/** The address with its variables replaced; undefined for a server without one, or where one is not set. */
function addressOf(
  { transport }: ServerConfig,
  { machine }: DoctorParts,
):
  | { readonly transport: HttpTransportConfig; readonly url: URL; readonly text: string }
  | undefined {
  if (!("url" in transport)) return undefined;
  const expansion = expandVariables(reveal(transport.url), machine.hostEnv);
  if (!expansion.ok || !URL.canParse(expansion.text)) return undefined;
  return { transport, url: new URL(expansion.text), text: expansion.text };
}
