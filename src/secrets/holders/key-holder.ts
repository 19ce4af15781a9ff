import type { KeyObject } from "node:crypto";

import type { HeldKey, HolderKind } from "../seal/key-row.ts";

/** Holds the one key of a vault, and nothing else of it. Everything that goes wrong is `secret_unavailable`. */
export interface KeyHolder {
  readonly kind: HolderKind;
  /** Makes or takes a key for a vault, at a place where none was before. */
  create(): Promise<NewHeldKey>;
  /** Gives the key that is held at a place, or throws: it never makes one. */
  open(place: string): Promise<KeyObject>;
  /** Removes a key that no vault is sealed under any more. What somebody else holds stays. */
  discard(place: string): Promise<void>;
}

export interface NewHeldKey extends HeldKey {
  readonly key: KeyObject;
}

export type KeyEnvironment = Readonly<Record<string, string | undefined>>;
