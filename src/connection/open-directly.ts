import type { Transport } from "@modelcontextprotocol/client";

import type { ServerEntry } from "../config/keys/config-keys.ts";
import { type Limits, resolveLimits } from "../config/keys/limits.ts";
import { definitionOf, type ServerConfig } from "../config/keys/server-config.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import {
  callback,
  checkArguments,
  either,
  list,
  number,
  object,
  oneOf,
  options,
  signal,
  text,
} from "../errors/check-arguments.ts";
import { denyLaunch, errorOfDenial } from "../policy/decide-access.ts";
import { systemClock } from "../ports/clock.ts";
import { loggerOf } from "../ports/default-logger.ts";
import type { Logger } from "../ports/logger.ts";
import {
  chooseProtocol,
  type ProtocolCore,
  protocolCoreFrom,
} from "../protocol/choose-protocol.ts";
import type { InputHandlers } from "../protocol/wire/input-handlers.ts";
import { HostStore } from "../store/host-store.ts";
import type { JsonObject } from "../text/json-object.ts";
import { adoptedConfig, adoptTransport, isTransport } from "../transport/adopt-transport.ts";
import {
  type Authorize,
  createTransport,
  type TransportContext,
} from "../transport/create-transport.ts";
import type { HostTransport } from "../transport/host-transport.ts";
import { connectDeadlineMs, openConnection, type OpenedConnection } from "./open-connection.ts";

/** A configuration entry with its name, as a file or a program would write it, or a ready transport. */
export type DirectServer = Transport | ServerEntry | ServerConfig;

export interface DirectOptions {
  /** Time for start and handshake, and the default for each request; what the entry says by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Where reports go; warnings and errors to stderr by default, nothing anywhere with `false`. */
  readonly logger?: Logger | false | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly protocolCore?: ProtocolCore | undefined;
  /** `auto`, or the one revision to speak; the entry's `protocol` by default. */
  readonly protocolVersion?: string | undefined;
}

const directOptions = options({
  timeoutMs: number,
  signal,
  limits: object,
  logger: either(object, oneOf(false)),
  env: object,
  clientInfo: { ...object, members: { name: text, version: text } },
  protocolCore: oneOf("core", "sdk"),
  protocolVersion: text,
  human: object,
  sampling: callback,
  roots: either(list, callback),
  idGenerator: either(callback, oneOf("uuid", "counter")),
});

/** Throws `config_invalid` for what is neither an entry nor a transport, and for an option of a wrong type. */
export function checkDirectArguments(where: string, server: unknown, given: unknown): void {
  checkArguments(
    where,
    { server: object, options: directOptions },
    [server, given],
    "config_invalid",
  );
}

/** The parts that only one kind of direct connection has. */
export interface DirectParts {
  readonly inputHandlers?: (() => InputHandlers) | undefined;
  /** Stands between the protocol and each transport that is opened. */
  readonly wrap?: ((transport: HostTransport) => HostTransport) | undefined;
}

export interface DirectConnection extends OpenedConnection {
  /** The limits of the entry and of the caller, which the connection goes by. */
  readonly limits: Limits;
}

/** Opens one connection outside any host; it is the caller's to close. Throws `server_disabled` for an entry that is switched off. */
export async function openDirectly(
  server: DirectServer,
  given: DirectOptions,
  { inputHandlers, wrap = (transport) => transport }: DirectParts = {},
): Promise<DirectConnection> {
  const { timeoutMs, env: hostEnv = process.env } = given;
  const entry = directConfig(server);
  refuseDisabled(entry);
  const limits = directLimits(entry, given);
  const config = { ...entry, protocol: given.protocolVersion ?? entry.protocol };
  const opened = await openConnection(
    {
      config,
      limits,
      clientInfo: given.clientInfo ?? { name: "plugboard", version: "0" },
      clock: systemClock,
      logger: loggerOf(given.logger),
      hostEnv,
      createTransport: async (opened, context) =>
        wrap(
          isTransport(server)
            ? adoptTransport(server, opened.name)
            : await createTransport(opened, { ...context, authorize: authorizeAlone(context) }),
        ),
      connectProtocol: chooseProtocol(given.protocolCore ?? protocolCoreFrom(hostEnv)),
      inputHandlers,
    },
    {
      connectTimeoutMs: timeoutMs ?? connectDeadlineMs(config, limits, false),
      signal: given.signal,
    },
  );
  return { ...opened, limits };
}

/**
 * Lets a program sign in for itself, and keeps the tokens as long as it runs. A person signs in through a host, which
 * also keeps what it was given.
 */
function authorizeAlone({ hostEnv, limits, clock, logger }: TransportContext): Authorize {
  return async (serverName, resolved) => {
    const { auth } = resolved;
    if (auth.type !== "oauth" || (auth.grant ?? "authorization_code") === "authorization_code")
      return undefined;
    const [{ SignIns }, { MemoryVault }] = await Promise.all([
      import("../auth/sign-ins.ts"),
      import("../secrets/memory-vault.ts"),
    ]);
    const signIns = new SignIns({
      vault: new MemoryVault(),
      store: new HostStore({ location: undefined, clock, logger }),
      tools: { hostEnv, limits, clock, logger },
      closing: new AbortController().signal,
    });
    return await signIns.authorize(serverName, resolved);
  };
}

/** There is nothing to approve here: whoever opens a server directly trusts it. */
function refuseDisabled({ name, enabled, provenance }: ServerConfig): void {
  const denial = denyLaunch({ serverName: name, isEnabled: enabled, isLaunchApproved: true });
  if (denial !== undefined) throw errorOfDenial(denial, name, definitionOf(provenance));
}

function directLimits(
  entry: ServerConfig,
  { limits, timeoutMs = entry.callTimeoutMs }: DirectOptions,
): Limits {
  return resolveLimits({
    ...limits,
    ...(timeoutMs === undefined ? {} : { callTimeoutMs: timeoutMs }),
  });
}

export function directConfig(server: DirectServer): ServerConfig {
  if (isTransport(server)) return adoptedConfig("server");
  const { name } = server as JsonObject;
  return parseServerEntry(typeof name === "string" ? name : "server", server);
}
