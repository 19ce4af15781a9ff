import { homedir } from "node:os";

import { loadOnce } from "../async/load-once.ts";
import type { RequestAuthorization } from "../auth/request-authorization.ts";
import { userFolder } from "../config/files/config-files.ts";
import type { Limits } from "../config/keys/limits.ts";
import type {
  AuthConfig,
  HttpTransportConfig,
  ServerConfig,
  StdioTransportConfig,
} from "../config/keys/server-config.ts";
import { resolveServer } from "../config/parse/expand-variables.ts";
import type { ResolvedTexts } from "../config/variables/map-templates.ts";
import type { Environment } from "../config/variables/reference-values.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { CheckedLaunch } from "../isolation/process/checked-launch.ts";
import { launchEnvironment } from "../isolation/process/launch-environment.ts";
import {
  type LaunchGround,
  launchFolder,
  privateFolder,
} from "../isolation/process/launch-folder.ts";
import { ensurePrivateFolder } from "../isolation/process/private-folder.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { HostTransport, ProcessOutput } from "./host-transport.ts";
import { sampleAuth } from "./http/entry-hints.ts";
import type { HttpTransportOptions } from "./http/http-client.ts";

export interface TransportContext {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The host's environment: source of `${VAR}` and of what a child may inherit. */
  readonly hostEnv: Environment;
  /** Where processes start; the current folder of this process without it. */
  readonly ground?: LaunchGround | undefined;
  /** What was checked and may be started; whatever its command stands for without it. */
  readonly checked?: CheckedLaunch | undefined;
  /** Finds out how a server is shown who is calling; without it nobody signs in. */
  readonly authorize?: Authorize | undefined;
  /** Where the output of a process is kept; nowhere without it. */
  readonly output?: ProcessOutput | undefined;
}

/** Undefined for a server whose entry leaves nothing to be signed in to. */
export type Authorize = (
  serverName: string,
  resolved: ResolvedTexts,
) => Promise<RequestAuthorization | undefined>;

/** Builds the transport of one connection attempt, not yet started. Tests inject their own. */
export type CreateTransport = (
  config: ServerConfig,
  context: TransportContext,
) => Promise<HostTransport>;

const loadStdio = loadOnce(() => import("./stdio/stdio-transport.ts"));
const loadStreamableHttp = loadOnce(() => import("./dialects/streamable-http-transport.ts"));
const loadSse = loadOnce(() => import("./dialects/sse-transport.ts"));
const loadHttpPost = loadOnce(() => import("./dialects/http-post-transport.ts"));
const loadRest = loadOnce(() => import("./dialects/rest-transport.ts"));

/**
 * The transport an entry describes. Variables become values here, at the last moment; each kind is
 * loaded when the first server of that kind starts.
 */
export const createTransport: CreateTransport = async (config, context) => {
  refuseUnsupported(config);
  const { transport, auth, ...resolved } = resolveServer(config, context.hostEnv);
  const { secrets, credentials } = resolved;
  const authorization = await context.authorize?.(config.name, { transport, auth });
  if (auth.type === "oauth" && authorization === undefined) throw cannotSignIn(config);
  // Copies, because tokens are added to them.
  const masked = { secrets: [...secrets], credentials: [...credentials] };
  const common = { ...context, serverName: config.name, authorization, ...masked };
  switch (transport.kind) {
    case "stdio":
      return await createStdio({ ...config, transport }, transport, common);
    case "http":
    case "streamable-http":
      return await createStreamableHttp(transport, httpOptions(transport, auth, common));
    case "http-post":
      return await createHttpPost(httpOptions(transport, auth, common));
    case "rest":
      return await createRest(httpOptions(transport, auth, common));
    case "sse":
      return await createSse(transport, httpOptions(transport, auth, common));
    case "memory":
      throw unusable(config, "its transport was given in code and cannot be opened again");
    case "none":
      throw unusable(config, "its entry has neither a command nor a url");
  }
};

/** What an entry asks for and cannot have is never left out silently: nothing is started or sent then. */
function refuseUnsupported({ name: serverName, isolation }: ServerConfig): void {
  if (isolation !== undefined)
    throw createError(
      "sandbox_unavailable",
      "the entry asks for isolation, which this version cannot give",
      { serverName, hint: 'run the server without "isolation", or not at all' },
    );
}

function cannotSignIn({ name: serverName }: ServerConfig): McpError {
  const message = "the entry asks for a sign-in, which needs a host; nothing was sent";
  return createError("auth_required", message, {
    serverName,
    hint: `if it takes a token as well, use that instead: ${sampleAuth(serverName)}`,
  });
}

interface CommonOptions extends TransportContext {
  readonly serverName: string;
  readonly secrets: string[];
  readonly credentials: string[];
  readonly authorization: RequestAuthorization | undefined;
}

async function createStdio(
  config: ServerConfig,
  { command, args, env, envPassthrough, inheritEnv }: StdioTransportConfig<string>,
  { hostEnv, ground = currentGround(), ...common }: CommonOptions,
): Promise<HostTransport> {
  const { createStdioTransport } = await loadStdio();
  const cwd = launchFolder(config, ground);
  if (cwd === privateFolder(config, ground)) await ensurePrivateFolder(cwd, ground.userFolder);
  const childEnv = launchEnvironment(config, {
    hostEnv,
    env,
    envPassthrough,
    inheritEnv,
    platform: process.platform,
    ground,
  });
  const { strict } = config;
  return createStdioTransport({ ...common, command, args, cwd, env: childEnv, strict });
}

/** For a server that no host starts. */
function currentGround(): LaunchGround {
  return { workspaceFolder: process.cwd(), home: homedir(), userFolder: userFolder() };
}

/** What the transports over HTTP have in common. */
function httpOptions(
  { url, headers, allowPrivateNetwork }: HttpTransportConfig<string>,
  auth: AuthConfig<string>,
  common: CommonOptions,
): HttpTransportOptions {
  return { ...common, url, allowPrivateNetwork, headers: { ...headers, ...bearer(auth) } };
}

async function createStreamableHttp(
  { method }: HttpTransportConfig<string>,
  options: HttpTransportOptions,
): Promise<HostTransport> {
  const { createStreamableHttpTransport } = await loadStreamableHttp();
  return createStreamableHttpTransport({ ...options, method });
}

async function createSse(
  { messageEndpoint }: HttpTransportConfig<string>,
  options: HttpTransportOptions,
): Promise<HostTransport> {
  const { createSseTransport } = await loadSse();
  return createSseTransport({ ...options, messageEndpoint });
}

async function createHttpPost(options: HttpTransportOptions): Promise<HostTransport> {
  const { createHttpPostTransport } = await loadHttpPost();
  return createHttpPostTransport(options);
}

async function createRest(options: HttpTransportOptions): Promise<HostTransport> {
  const { createRestTransport } = await loadRest();
  return createRestTransport(options);
}

/** The header of a bearer token. People store tokens with and without the word in front of them. */
export function bearer(auth: AuthConfig<string>): Readonly<Record<string, string>> {
  if (auth.type !== "bearer") return {};
  return { authorization: `Bearer ${auth.token.replace(/^bearer\s+/i, "").trim()}` };
}

function unusable(config: ServerConfig, reason: string): McpError {
  return createError("config_invalid", `server "${config.name}" cannot be started: ${reason}`, {
    serverName: config.name,
  });
}
