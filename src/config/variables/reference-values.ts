import type { SecretText } from "../../text/secrets/secret-text.ts";
import type { Folders } from "./variable-reference.ts";

/** The values of references: variables by their names, all others under a symbol that no variable can have. */
export interface Environment extends Readonly<Record<string, string | undefined>> {
  readonly [otherReferences]?: OtherReferences;
}

export const otherReferences: unique symbol = Symbol("plugboard.otherReferences");

/** The values of one entry's references that are no variables of the environment. */
export interface OtherReferences {
  readonly folders: Folders;
  /** The answers for `${input:id}`, by id. */
  readonly inputs: ReadonlyMap<string, SecretText>;
  /** The values for `${secret:name}`, by name. */
  readonly secrets: ReadonlyMap<string, SecretText>;
  /** The variables of the entry's `envFile`. */
  readonly envFile: Readonly<Record<string, SecretText>>;
}
