import { isDeepStrictEqual } from "node:util";

import { untilAborted } from "../../async/until-aborted.ts";
import { readEnvFile } from "../../config/files/read-env-file.ts";
import { formatOrigin } from "../../config/keys/config-problem.ts";
import type { InputDeclaration, ServerConfig } from "../../config/keys/server-config.ts";
import { hasOtherReferences, inputIds, secretUses } from "../../config/variables/reference-uses.ts";
import {
  type Environment,
  otherReferences,
  type OtherReferences,
} from "../../config/variables/reference-values.ts";
import type { Folders } from "../../config/variables/variable-reference.ts";
import { createError } from "../../errors/families.ts";
import type { Human, InputQuestion } from "../../human/human.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { InputPlace, KeptAnswers } from "../secrets/kept-answers.ts";
import type { SecretSource, SecretUse } from "../secrets/secret-source.ts";

export interface EntryReferencesParts {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly folders: Folders;
  readonly human: Human | undefined;
  readonly secrets: SecretSource;
  readonly keptAnswers: KeptAnswers;
}

/** The values that the references of one entry stand for when its server starts. */
export interface EntryEnvironment {
  readonly environment: Environment;
  /** Reads files and secrets, and asks a person for values that are not known yet. Undefined when there are none. */
  readonly fill: (() => Promise<void>) | undefined;
}

/**
 * Finds out what entries refer to beside variables: folders, files of variables, secrets, and what a person is asked
 * for. An answer is kept as long as the host, and one that is a password beyond that, for the file that asked for it; a
 * secret is read at each start.
 */
export class EntryReferences {
  readonly #parts: EntryReferencesParts;
  /** Answers by the place of the declaration and its id. */
  readonly #answers = new Map<string, Promise<SecretText>>();
  readonly #closed = new AbortController();

  constructor(parts: EntryReferencesParts) {
    this.#parts = parts;
  }

  /**
   * The environment of one server's connections. `fill` changes it in place, so that all of them see the same
   * values.
   */
  of(config: ServerConfig): EntryEnvironment {
    const { hostEnv } = this.#parts;
    if (!hasOtherReferences(config)) return { environment: hostEnv, fill: undefined };
    const environment: Record<string, string | undefined> & {
      [otherReferences]?: OtherReferences;
    } = {};
    const fill = async (): Promise<void> => {
      const references = await this.#resolve(config);
      for (const name of Object.keys(environment)) delete environment[name];
      Object.assign(environment, hostEnv, { [otherReferences]: references });
    };
    return { environment, fill };
  }

  /** Aborts the questions under way: nobody waits for their answers any more. */
  close(): void {
    this.#closed.abort();
  }

  async #resolve(config: ServerConfig): Promise<OtherReferences> {
    const { folders } = this.#parts;
    const envFile = await readEnvFile(config, folders);
    const inputs = new Map<string, SecretText>();
    for (const id of inputIds(config)) inputs.set(id, await this.#input(config, id));
    const secrets = new Map<string, SecretText>();
    for (const [name, field] of secretUses(config))
      secrets.set(name, await this.#secret(config, { name, field }));
    return { folders, inputs, secrets, envFile };
  }

  async #secret(config: ServerConfig, use: SecretUse): Promise<SecretText> {
    const found = this.#parts.secrets.find(config, use);
    return await untilAborted(found, this.#closed.signal, () =>
      createError("closed", "the host has been closed"),
    );
  }

  /** Asks for an input once for all servers of a file that want it. */
  #input(config: ServerConfig, id: string): Promise<SecretText> {
    const place = placeOf(config);
    const key = answerKey(place, id);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const isPassword = config.inputs?.some((it) => it.id === id && it.password === true) ?? false;
    const answer = isPassword ? this.#password(config, id) : this.#ask(config, id);
    this.#answers.set(key, answer);
    // A refusal counts for this start; the next one asks again.
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }

  /** Takes the answer that was kept, or asks and keeps it. */
  async #password(config: ServerConfig, id: string): Promise<SecretText> {
    const { keptAnswers } = this.#parts;
    const place = placeOf(config);
    const kept = await keptAnswers.read(place, id);
    if (kept !== undefined) return kept;
    const answer = await this.#ask(config, id);
    await keptAnswers.write(place, id, answer);
    return answer;
  }

  /**
   * Forgets the answers to the inputs of a server, unless one of `others` has them from the same file; returns how many
   * of them were kept beyond the host. The next start asks again.
   */
  async forget(config: ServerConfig, others: readonly ServerConfig[] = []): Promise<number> {
    const place = placeOf(config);
    const shared = new Set(
      others
        .filter((other) => isDeepStrictEqual(placeOf(other), place))
        .flatMap((other) => [...inputIds(other)]),
    );
    let forgotten = 0;
    for (const id of inputIds(config)) {
      if (shared.has(id)) continue;
      this.#answers.delete(answerKey(place, id));
      if (await this.#parts.keptAnswers.forget(place, id)) forgotten += 1;
    }
    return forgotten;
  }

  async #ask(config: ServerConfig, id: string): Promise<SecretText> {
    const { human, folders } = this.#parts;
    const { name: serverName, inputs = [], provenance } = config;
    const declared = inputs.find((input) => input.id === id) ?? { id, type: "promptString" };
    const place = formatOrigin(provenance, folders.workspaceFolder);
    const failure = (problem: string, hint: string): Error =>
      createError("variable_unset", `\${input:${neutralizeLine(id)}} ${problem} (${place})`, {
        serverName,
        hint,
        details: { ...provenance, variable: `input:${id}` },
      });
    if (declared.type === "command")
      throw failure("runs a command of VS Code, which only VS Code has", nameVariable);
    if (human?.input === undefined)
      throw failure("has to be asked for, and there is nobody to ask", nameVariable);
    const answer = await this.#answer(human, questionOf(declared, serverName, place));
    if (typeof answer !== "string" || answer === "")
      throw failure("was asked for, and nobody answered", `start it again, or ${nameVariable}`);
    return new SecretText(answer);
  }

  /** Asks a person. A question that fails counts as refused: undefined. */
  async #answer(human: Human, question: InputQuestion): Promise<string | undefined> {
    const { signal } = this.#closed;
    try {
      return await untilAborted(Promise.resolve(human.input?.(question, { signal })), signal);
    } catch {
      return undefined;
    }
  }
}

function placeOf({ name, provenance: { layer, path = name } }: ServerConfig): InputPlace {
  return { layer, path };
}

function answerKey({ layer, path }: InputPlace, id: string): string {
  return JSON.stringify([layer, path, id]);
}

const nameVariable = "name a variable in its place: ${env:NAME}";

function questionOf(declared: InputDeclaration, serverName: string, origin: string): InputQuestion {
  const { id, type, description, password = false, default: suggested, options = [] } = declared;
  return {
    serverName: neutralizeLine(serverName),
    origin: neutralizeLine(origin),
    id: neutralizeLine(id),
    ...(description === undefined ? {} : { description: neutralizeLine(description) }),
    isSecret: password,
    ...(suggested === undefined ? {} : { default: suggested }),
    options: type === "pickString" ? options : [],
  };
}
