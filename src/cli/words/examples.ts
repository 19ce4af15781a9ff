import type { Command } from "commander";

/** A line to copy from the help of a command. A test runs every one of them. */
export interface Example {
  /** The line as it is typed into a shell. */
  readonly line: string;
  /** What the line does, as a comment above it. */
  readonly says: string;
  /** The exit code of the line where nobody sits at a terminal; 0 unless given. */
  readonly exitCode?: number;
  /** Set for a command that goes on until Ctrl-C. */
  readonly stays?: true;
}

const examples = new WeakMap<Command, readonly Example[]>();

/** Shows the examples at the end of the help of a command. */
export function addExamples(command: Command, added: readonly Example[]): Command {
  examples.set(command, added);
  const lines = added.flatMap(({ line, says }) => [`  # ${says}`, `  ${line}`]);
  return command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/** Gives the examples of a command, none if it has none. */
export function examplesOf(command: Command): readonly Example[] {
  return examples.get(command) ?? [];
}
