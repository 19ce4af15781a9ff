import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import type { Report } from "../keys/check-value.ts";
import {
  type ConfigText,
  hasServerStream,
  type HttpTransportConfig,
  type StdioTransportConfig,
  type TransportConfig,
} from "../keys/server-config.ts";
import { resolvePath } from "../variables/resolve-path.ts";
import { hasReference } from "../variables/variable-reference.ts";
import { hideArguments, hideInAddress, hideValues } from "./hide-secrets.ts";
import type { EntryValues, ReadEntry } from "./read-entry.ts";

export interface BuildContext {
  readonly report: Report;
  /** The folder that relative paths start from: the one that holds the entry's configuration. */
  readonly baseDir: string | undefined;
}

/** Builds the transport that the entry names, or that `command` or `url` imply; undefined after an error. */
export function buildTransport(
  entry: ReadEntry,
  values: EntryValues,
  context: BuildContext,
): TransportConfig | undefined {
  const { command, url } = values;
  const fail = (key: string, message: string): undefined => {
    context.report("error", entry.at(key), message);
  };
  const kind = values.transport ?? (command !== undefined ? "stdio" : "http");

  if (command === undefined && url === undefined) {
    if (values.enabled === false) return { kind: "none" };
    if (values.transport === undefined) return fail("command", 'needs "command" or "url"');
  }
  if (kind === "stdio") {
    if (command === undefined)
      return fail("command", '"transport" is stdio, but "command" is missing');
    if (url !== undefined && values.transport === undefined)
      return fail("url", '"command" and "url" exclude each other');
    return buildStdio(command, entry, values, context);
  }
  if (url === undefined) return fail("url", `"transport" is ${kind}, but "url" is missing`);
  if (command !== undefined) return fail("command", '"command" and "url" exclude each other');
  return buildHttp(kind, url, entry, { ...context, values });
}

function buildStdio(
  given: string | readonly ConfigText[],
  entry: ReadEntry,
  values: EntryValues,
  context: BuildContext,
): StdioTransportConfig | undefined {
  const [program, ...rest] = typeof given === "string" ? [given] : given;
  const command = trimHidden(reveal(program ?? ""));
  if (command === "") {
    context.report("error", entry.at("command"), '"command" must not be empty');
    return undefined;
  }
  if (typeof given !== "string" && values.args !== undefined) {
    const message = '"args" is ignored, because "command" is a list and holds the arguments';
    context.report("warning", entry.at("args"), message);
  }
  const cwd = resolvePath(values.cwd, context.baseDir);
  const envFile = resolvePath(values.envFile, context.baseDir);
  return {
    kind: "stdio",
    command: hasFolder(command)
      ? (resolvePath(command, cwd ?? context.baseDir) ?? command)
      : command,
    args: hideArguments(typeof given === "string" ? (values.args ?? []) : rest),
    ...(cwd === undefined ? {} : { cwd }),
    env: hideValues(values.env ?? {}),
    ...(envFile === undefined ? {} : { envFile }),
    envPassthrough: values.envPassthrough ?? [],
    inheritEnv: values.inheritEnv ?? "safe",
    expandArgs: values.expandArgs ?? false,
  };
}

function buildHttp(
  kind: HttpTransportConfig["kind"],
  given: ConfigText,
  entry: ReadEntry,
  context: BuildContext & { readonly values: EntryValues },
): HttpTransportConfig | undefined {
  const { values, report } = context;
  const url = trimHidden(reveal(given));
  // An address with references is checked once they are replaced.
  const flaw = hasReference(url) ? undefined : findUrlFlaw(url);
  if (flaw !== undefined) {
    report("error", entry.at("url"), `"url" ${flaw}`);
    return undefined;
  }
  const headers = values.headers ?? {};
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    report("error", entry.at("headers"), `the header "${repeated}" is given twice`);
    return undefined;
  }
  if (values.method === "GET" && !hasServerStream(kind)) {
    const message = `"method" is GET, which requires a stream of the server's own, and "transport" ${kind} has none; leave out "method"`;
    report("error", entry.at("method"), message);
    return undefined;
  }
  const endpoint = values.messageEndpoint;
  const isFound = endpoint === undefined || reveal(endpoint) === "auto";
  return {
    kind,
    url: hideInAddress(url, SecretText.is(given)),
    headers: hideValues(headers),
    method: values.method ?? "POST",
    ...(isFound
      ? {}
      : { messageEndpoint: hideInAddress(reveal(endpoint), SecretText.is(endpoint)) }),
    allowPrivateNetwork: values.allowPrivateNetwork ?? false,
  };
}

/** Finds the flaw of an address. The text does not repeat the address, which may hold a secret. */
export function findUrlFlaw(url: string): string | undefined {
  if (!URL.canParse(url)) return "is not a complete address";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return "must begin with http:// or https://";
  if (username !== "" || password !== "")
    return 'must not hold a user name or password; use "auth" or "headers"';
  return undefined;
}

/** A text that begins and ends with visible characters; to build the expression for others takes a process 2 ms. */
const trimmed = /^[!-~](?:[^]*[!-~])?$/;

/** Trims invisible characters around a pasted address or command; they are never meant. */
function trimHidden(text: string): string {
  if (trimmed.test(text)) return text;
  const hidden = /[\s\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;
  // The end is trimmed by hand, because `[…]+$` is quadratic on a long run inside the text.
  let [start, end] = [0, text.length];
  while (start < end && hidden.test(text[start] ?? "")) start += 1;
  while (end > start && hidden.test(text[end - 1] ?? "")) end -= 1;
  return text.slice(start, end);
}

function hasFolder(command: string): boolean {
  return command.includes("/") || (process.platform === "win32" && command.includes("\\"));
}
