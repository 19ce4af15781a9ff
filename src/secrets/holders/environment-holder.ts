import type { KeyObject } from "node:crypto";

import type { McpError } from "../../errors/mcp-error.ts";
import { keyBytes, takeKey } from "../seal/envelope.ts";
import { secretError } from "../seal/secret-error.ts";
import type { KeyEnvironment, KeyHolder, NewHeldKey } from "./key-holder.ts";

export const keyVariable = "PLUGBOARD_SECRET_KEY";

const howToMakeKey = `export ${keyVariable}=$(openssl rand -base64 32), and keep it somewhere safe`;

/** A key that whoever starts the host gives it in a variable: 32 bytes as base64 or as hexadecimal digits. */
export class EnvironmentHolder implements KeyHolder {
  readonly kind = "environment";
  readonly #env: KeyEnvironment;

  constructor(env: KeyEnvironment) {
    this.#env = env;
  }

  async create(): Promise<NewHeldKey> {
    return { kind: this.kind, place: "", key: this.#read(howToMakeKey) };
  }

  async open(): Promise<KeyObject> {
    return this.#read(`set ${keyVariable} to the key that the vault was made with`);
  }

  async discard(): Promise<void> {
    // The variable is somebody else's.
  }

  #read(hint: string): KeyObject {
    const text = this.#env[keyVariable] ?? "";
    if (text === "") throw secretError("key-missing", `${keyVariable} is not set`, { hint });
    const bytes = parseKey(text.trim());
    if (bytes === undefined) throw noKey();
    return takeKey(bytes);
  }
}

function parseKey(text: string): Buffer | undefined {
  if (/^[\da-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  // 32 bytes are 43 characters, in either alphabet; the last one has two bits that say nothing.
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === keyBytes ? bytes : undefined;
}

function noKey(): McpError {
  return secretError(
    "key-unsafe",
    `${keyVariable} is no key: it takes ${keyBytes} bytes as base64 or as 64 hexadecimal digits`,
    { hint: `make one with: openssl rand -base64 ${keyBytes}` },
  );
}
