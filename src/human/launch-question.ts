/**
 * What a person is asked before a server of a project may start: all that would be started or contacted,
 * nothing cut. Every text in it is safe to print; invisible characters are written as escapes. Values
 * of the person's variables, values of `env` that look like a secret, and literal values of headers and
 * sign-in are not part of it.
 */
export interface LaunchQuestion {
  readonly serverName: string;
  /** Where the entry is written. */
  readonly origin: { readonly layer: string; readonly path?: string; readonly line?: number };
  /** What a yes is bound to: `approve(name, { launchId })` fails if anything has changed meanwhile. */
  readonly launchId: string;
  readonly target: ProcessTarget | AddressTarget;
  /** The server of the same name that is in force until this one is approved, and would not be any more. */
  readonly replaces?: { readonly origin: LaunchQuestion["origin"]; readonly target: string };
  /** What else differs from a plain entry: sign-in, isolation, names and lists of tools, options of the transport. */
  readonly details: readonly { readonly name: string; readonly value: string }[];
  /** Variables and secrets of the person that the server would be given. */
  readonly wants: readonly WantedVariable[];
  /** What a command such as `npx` would fetch and run; `unclear` when its options do not tell. */
  readonly packages: readonly PackageNotice[] | "unclear";
  /** How it differs from what was approved last under this name; absent when nothing was. */
  readonly difference?: LaunchDifference;
}

export interface ProcessTarget {
  readonly kind: "process";
  /** Command and arguments, quoted where it is needed to see where one ends. */
  readonly commandLine: string;
  /** The file that the command stands for, links followed. */
  readonly file: CommandFile;
  readonly folder: string;
  /** The variables that the entry sets. */
  readonly env: readonly EntryVariable[];
  /** Names of variables of the person that are handed on. */
  readonly envPassthrough: readonly string[];
  readonly inheritEnv: "safe" | "none" | "all";
}

export interface EntryVariable {
  readonly name: string;
  /** As it is written, references not replaced; absent where it looks like a secret. */
  readonly value?: string;
  /**
   * Whether such a variable makes programs run or fetch other code: `PATH`, `NODE_OPTIONS`, `LD_PRELOAD` and
   * their like. Then the value is always there, and whoever asks a person adds a warning.
   */
  readonly changesExecution: boolean;
}

/** `not looked up`: to find it, variables of the person, or another machine, would have to be asked. */
export type CommandFile =
  | { readonly status: "found"; readonly path: string }
  | { readonly status: "not found" | "not looked up" };

export interface AddressTarget {
  readonly kind: "address";
  readonly transport: string;
  readonly url: string;
  /** Names of the headers that the entry sets. */
  readonly headers: readonly string[];
}

export interface WantedVariable {
  /** The name of a variable; `input:id` for what the person is asked for, `secret:name` for a secret they keep. */
  readonly variable: string;
  /** `header Authorization`, `variable TOKEN`, `address`, … */
  readonly goesTo: string;
  /** Whom it is sent to; absent for a process. */
  readonly host?: string;
}

export interface PackageNotice {
  /** As the entry names it, with its version. */
  readonly spec: string;
  /** Whether every start runs the same release; otherwise it may change at any start. */
  readonly isPinned: boolean;
  /** What to write instead, when the version on this machine is known. */
  readonly pinnedSpec?: string;
  /** The well-known name that this one can be mistaken for. */
  readonly resembles?: string;
}

export interface LaunchDifference {
  readonly approvedAt: number;
  /** Never empty. `was` or `is` is absent for what is new or gone. */
  readonly changes: readonly {
    readonly name: string;
    readonly was?: string;
    readonly is?: string;
  }[];
}
