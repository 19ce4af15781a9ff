import { connectWithCore } from "./core-client.ts";
import type { ConnectProtocol } from "./protocol-client.ts";

/** `core` is Plugboard's own implementation; `sdk` puts the official SDK's client in its place. */
export type ProtocolCore = "core" | "sdk";

/** The SDK is loaded only by connections that use it. */
export function chooseProtocol(core: ProtocolCore): ConnectProtocol {
  if (core === "core") return connectWithCore;
  return async (transport, options) => {
    const { connectWithSdk } = await import("./sdk-client.ts");
    return await connectWithSdk(transport, options);
  };
}

/** What `PLUGBOARD_PROTOCOL_CORE` asks for; anything but `sdk` means the default. */
export function protocolCoreFrom(env: Readonly<Record<string, string | undefined>>): ProtocolCore {
  return env["PLUGBOARD_PROTOCOL_CORE"] === "sdk" ? "sdk" : "core";
}
