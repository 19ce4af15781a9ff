import { stat } from "node:fs/promises";
import path from "node:path";

import { findForeignWriter, type ForeignWriter } from "../../config/files/foreign-access.ts";
import { formatProblem, type ConfigProblem } from "../../config/keys/config-problem.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { orphanedProcesses } from "../../isolation/process/marked-processes.ts";
import { readProcText } from "../../isolation/process/read-proc-file.ts";
import type { VaultStatus } from "../../secrets/vault.ts";
import { parseStoreLocation } from "../../store/tables/store-location.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { CheckId } from "./check-texts.ts";
import { type DoctorParts, type Found, ok, problem, problemOf, someOf, warning } from "./check.ts";
import { isInNodeRange } from "./node-range.ts";

/** A check of the machine and the host's own files; several findings where several places are wrong. */
interface MachineCheck {
  readonly id: CheckId;
  readonly run: (parts: DoctorParts) => Promise<Found | readonly Found[]>;
}

/** The versions of Node that Plugboard runs on, as its manifest has them. */
export const ownNodeRange = ">=20.19";

export const machineChecks: readonly MachineCheck[] = [
  { id: "runtime", run: async () => checkRuntime(process.versions.node) },
  { id: "store", run: checkStore },
  { id: "secrets", run: checkSecrets },
  { id: "config", run: checkConfig },
  { id: "files", run: async (parts) => checkFiles(parts) },
  { id: "leftovers", run: async () => describeLeftovers(await orphanedProcesses()) },
];

export function checkRuntime(version: string): Found {
  const evidence = `Node ${version}, which has to be ${ownNodeRange}`;
  return isInNodeRange(version, ownNodeRange) === false
    ? problem(evidence, "config_invalid")
    : ok(evidence);
}

/** Larger stores are not read as a whole: that would take longer than anybody waits. */
const maxCheckedBytes = 64 * 1_024 * 1_024;

async function checkStore({ store, storeLocation }: DoctorParts): Promise<Found> {
  if (storeLocation === undefined) return ok("the host keeps nothing");
  if (store.problem !== undefined && !store.exists) return storeProblem(store.problem);
  const location = parseStoreLocation(storeLocation);
  const file = location.kind === "file" ? location.file : undefined;
  if (!store.exists) return ok(`${file ?? "none"} is not there yet; it is made when it is needed`);
  try {
    const opened = await store.open();
    if (opened === undefined) return ok("the host keeps nothing");
    const { latestVersion } = await import("../../store/tables/schema-version.ts");
    const stats = file === undefined ? undefined : await stat(file);
    const facts = [
      opened.place,
      `schema ${latestVersion}`,
      ...(stats ? [sizeText(stats.size)] : []),
    ];
    const complaints = (stats?.size ?? 0) > maxCheckedBytes ? [] : await opened.check();
    if (complaints.length > 0)
      return problem(
        `${facts.join(", ")}: ${someOf(complaints)}`,
        "store_failed",
        `restore ${opened.place} from a backup, or move it away to start with an empty one`,
      );
    const writer = file === undefined ? undefined : findForeignWriter([path.dirname(file)]);
    if (writer !== undefined)
      return warning(`${writer.what} ${writer.place}`, `run: ${writer.command}`);
    return ok(facts.join(", "));
  } catch (error) {
    if (!McpError.is(error)) throw error;
    return problemOf(error);
  }
}

const holderTexts: Readonly<Record<NonNullable<VaultStatus["holder"]>, string>> = {
  environment: "PLUGBOARD_SECRET_KEY",
  passphrase: "PLUGBOARD_PASSPHRASE",
  keychain: "the keychain of this system",
  file: "a file",
  memory: "this process alone: nothing is kept",
};

/** Says who holds the key that everything secret is sealed under. */
async function checkSecrets({ vault }: DoctorParts): Promise<Found> {
  const { holder, file, state, problem: refusal } = await vault.status({ opens: true });
  if (refusal !== undefined) return problemOf(refusal);
  const held = holder === undefined ? "the keychain, or a file without one" : holderTexts[holder];
  const place = file === undefined ? held : `${held}, ${file}`;
  return ok(
    state === "empty"
      ? `none are kept; their key would be in ${place}`
      : `sealed; the key is in ${place}`,
  );
}

/** A host without a store works, and keeps nothing. */
function storeProblem({ severity, code, message }: ConfigProblem): Found {
  return severity === "error" ? problem(message, code, "") : warning(message);
}

function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** One finding for each problem. */
export function findingsOf(problems: readonly ConfigProblem[]): readonly Found[] {
  return problems.map((it) => {
    const text = formatProblem(it);
    return it.severity === "error" ? problem(text, it.code) : warning(text);
  });
}

async function checkConfig(parts: DoctorParts): Promise<Found | readonly Found[]> {
  const own = problemsOfNobody(parts);
  if (own.length > 0) return findingsOf(own);
  const isToldOtherwise = parts.host.configProblems.some(isOfConfig);
  return ok(
    isToldOtherwise ? "no mistake beside those told elsewhere here" : "no mistake in any entry",
  );
}

/** What is wrong with the store is the finding of another check. */
function isOfConfig({ code }: ConfigProblem): boolean {
  return code !== "store_failed";
}

/**
 * Leaves out what others tell: the check of files, that a file of the user is not used because others can write it; the
 * report of a server, what is wrong with its entry.
 */
function problemsOfNobody({ host, configFiles }: DoctorParts): readonly ConfigProblem[] {
  const own = configFiles().filter(({ layer, isBroken }) => layer === "user" && isBroken);
  const open = own.filter(({ path: file }) => foreignWriterOf(file) !== undefined);
  const files = new Set<string | undefined>(open.map((file) => file.path));
  const names = new Set<string | undefined>(host.servers().map(({ name }) => name));
  return host.configProblems
    .filter(isOfConfig)
    .filter(({ path: file, serverName }) => !files.has(file) && !names.has(serverName));
}

function foreignWriterOf(file: string): ForeignWriter | undefined {
  return findForeignWriter([file, path.dirname(file)]);
}

function checkFiles({ configFiles }: DoctorParts): Found | readonly Found[] {
  const there = configFiles().filter(({ isFound }) => isFound);
  if (there.length === 0) return ok("there are none");
  const open = there.flatMap(({ path: file, layer }) => {
    const writer = foreignWriterOf(file);
    if (writer === undefined) return [];
    const evidence = `${writer.what} ${writer.place}`;
    const fix = `read it, then run: ${writer.command}`;
    // Entries of the user's own file need no approval: it is not used while others can write it.
    return [layer === "user" ? problem(evidence, "config_invalid", fix) : warning(evidence, fix)];
  });
  return open.length > 0 ? open : ok(someOf(there.map((file) => file.path)));
}

const maxCommand = 60;

/** Names the processes of a host that is gone. Only Linux shows which they are. */
export function describeLeftovers(pids: readonly number[]): Found {
  if (pids.length === 0) return ok("none");
  const shown = pids.map((pid) => `${pid} (${commandOf(pid)})`);
  return warning(
    `${pids.length === 1 ? "1 process" : `${pids.length} processes`}: ${someOf(shown)}`,
    `nothing: the next server that is started ends them; or end them now: kill ${pids.join(" ")}`,
  );
}

function commandOf(pid: number): string {
  const words = readProcText(pid, "cmdline")?.split("\0") ?? [];
  return serverText(words.join(" ").trim(), maxCommand) || "ended meanwhile";
}
