import { loadOnce } from "../async/load-once.ts";
import type { ConnectProtocol } from "./protocol-client.ts";

/** `core` is Plugboard's own implementation; `sdk` puts the official SDK's client in its place. */
export type ProtocolCore = "core" | "sdk";

/** Loaded by the first connection that needs it: a command that only lists never does. */
const implementations: Readonly<Record<ProtocolCore, () => Promise<ConnectProtocol>>> = {
  core: loadOnce(async () => (await import("./client/core-client.ts")).connectWithCore),
  sdk: loadOnce(async () => (await import("./sdk/sdk-client.ts")).connectWithSdk),
};

export function chooseProtocol(core: ProtocolCore): ConnectProtocol {
  return async (transport, options) => {
    const connect = await implementations[core]();
    return await connect(transport, options);
  };
}

/** Reads `PLUGBOARD_PROTOCOL_CORE`; anything but `sdk` means the default. */
export function protocolCoreFrom(env: Readonly<Record<string, string | undefined>>): ProtocolCore {
  return env["PLUGBOARD_PROTOCOL_CORE"] === "sdk" ? "sdk" : "core";
}
