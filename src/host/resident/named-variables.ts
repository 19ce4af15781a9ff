import { variableUses } from "../../config/variables/reference-uses.ts";
import type { ServerStatus } from "../host.ts";
import { environmentMark } from "./ground.ts";

/** What a host compares a process with that wants to use it. */
export class ResidentGround {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #token: string;

  constructor(env: Readonly<Record<string, string | undefined>>, token: string) {
    this.#env = env;
    this.#token = token;
  }

  /** Names of the variables whose values have to be the same. */
  variables(servers: readonly Pick<ServerStatus, "config">[]): readonly string[] {
    return namedVariables(servers);
  }

  /** Whether a mark of another process stands for the values that this one has. */
  isSame(servers: readonly Pick<ServerStatus, "config">[], mark: string): boolean {
    return environmentMark(namedVariables(servers), this.#env, this.#token) === mark;
  }
}

/** The variables that the entries of servers name, without what a person is asked for and keeps as a secret. */
function namedVariables(servers: readonly Pick<ServerStatus, "config">[]): readonly string[] {
  const names = servers.flatMap(({ config }) => [
    ...variableUses(config).flatMap(({ kind, variable }) =>
      kind === "variable" ? [variable] : [],
    ),
    ...(config.transport.kind === "stdio" ? config.transport.envPassthrough : []),
  ]);
  return [...new Set(names)].toSorted();
}
