import type { Candidate } from "./candidates.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** What a shell asks with, and how it is answered. */
interface ShellDialect {
  /** The words behind the name of the program; the last is cut at the cursor. */
  readonly read: (question: readonly string[]) => readonly string[];
  /** The lines to print. */
  readonly write: (
    candidates: readonly Candidate[],
    question: readonly string[],
  ) => readonly string[];
  /** What the user's shell loads. */
  readonly script: string;
}

/** zsh and fish split the line and quote what they insert themselves. */
const described: Pick<ShellDialect, "read" | "write"> = {
  read: (question) => question,
  write: (candidates) =>
    candidates.map(({ value, says }) => (says === "" ? value : `${value}\t${says}`)),
};

/**
 * bash inserts an answer as it stands, so it comes quoted; and it replaces only what follows the last of its word
 * breaks. It asks with those and the line up to the cursor.
 */
const bash: Pick<ShellDialect, "read" | "write"> = {
  read: ([breaks = "", line = ""]) => splitLine(line, breaks).words,
  write: (candidates, [breaks = "", line = ""]) => {
    const { keptLength, isQuoted } = splitLine(line, breaks);
    return candidates
      .map(({ value }) => value.slice(keptLength))
      .filter((text) => !isQuoted || isPlain(text))
      .map(quoteForBash);
  },
};

/**
 * Nothing in the scripts evaluates an answer: names come from servers and projects, and `compgen -W`, `eval` or an
 * unquoted expansion would run what such a name holds.
 */
export const shellDialects: Readonly<Record<Shell, ShellDialect>> = {
  bash: {
    ...bash,
    script: `# Completion of plugboard for bash. In ~/.bashrc: source <(plugboard completion bash)
_plugboard() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(command plugboard __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -gt 0 && \${COMPREPLY[0]} == *[=.] ]] && type compopt &>/dev/null; then
    compopt -o nospace
  fi
}
complete -o default -F _plugboard plugboard
`,
  },
  zsh: {
    ...described,
    script: `#compdef plugboard
# Completion of plugboard for zsh. In ~/.zshrc, behind compinit: source <(plugboard completion zsh)
_plugboard() {
  local line value
  local -a whole wholeSaid open openSaid
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    if [[ $value == *[=.] ]]; then
      open+=("$value") openSaid+=("\${line/$'\\t'/  -- }")
    else
      whole+=("$value") wholeSaid+=("\${line/$'\\t'/  -- }")
    fi
  done < <(command plugboard __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( \${#whole} + \${#open} )) || { _files; return }
  (( \${#whole} )) && compadd -l -d wholeSaid -a -- whole
  (( \${#open} )) && compadd -S '' -l -d openSaid -a -- open
}
compdef _plugboard plugboard
`,
  },
  fish: {
    ...described,
    script: `# Completion of plugboard for fish. Once: plugboard completion fish > ~/.config/fish/completions/plugboard.fish
function __plugboard_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct | string unescape)
  set -l answers (command plugboard __complete fish $before[2..-1] "$current" 2>/dev/null)
  if test (count $answers) -gt 0
    printf '%s\\n' $answers
  else
    __fish_complete_path "$current"
  end
end
complete -c plugboard -f -a '(__plugboard_complete)'
`,
  },
};

interface SplitLine {
  /** Behind the name of the program, without quotes; the last is the one at the cursor and may be empty. */
  readonly words: readonly string[];
  /** How much of the last word the shell keeps, counted without quotes: all up to its last word break. */
  readonly keptLength: number;
  /** A quote of the last word is still open. */
  readonly isQuoted: boolean;
}

/** Splits a line as bash does, without expanding anything. */
function splitLine(line: string, breaks: string): SplitLine {
  const words: string[] = [];
  let word = "";
  let hasWord = false;
  let quote = "";
  let keptLength = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === "" && /\s/.test(character)) {
      if (hasWord) words.push(word);
      word = "";
      hasWord = false;
      keptLength = 0;
      continue;
    }
    hasWord = true;
    if (character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      keptLength = word.length;
    } else if (character === "\\" && quote !== "'") {
      at += 1;
      word += line.charAt(at);
    } else {
      word += character;
      if (quote === "" && breaks.includes(character)) keptLength = word.length;
    }
  }
  // Variables may be set in front of the name of the program.
  const start = words.findIndex((known) => !/^\w+=/.test(known));
  return { words: [...words.slice(start + 1), word], keptLength, isQuoted: quote !== "" };
}

function isPlain(text: string): boolean {
  // To build the second expression takes a process milliseconds, and a shell asks at every Tab.
  return /^[\w@%+=:,./-]*$/.test(text) || /^[\p{L}\p{N}_@%+=:,./-]*$/u.test(text);
}

/** Puts a backslash in front of whatever a shell could read as anything but itself. */
function quoteForBash(text: string): string {
  return isPlain(text) ? text : text.replaceAll(/[^\p{L}\p{N}_@%+=:,./-]/gu, String.raw`\$&`);
}
