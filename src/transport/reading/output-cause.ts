/** What a program that failed was missing, as far as its output tells. */
export type CauseKind =
  /** npm or npx found no package of that name. */
  | "package-missing"
  | "registry-unreachable"
  /** The program, or npm for it, asks for another version of Node. */
  | "wrong-node"
  | "command-missing"
  | "module-missing"
  | "connection-refused"
  | "host-unknown"
  | "variable-missing"
  /** It does not know a request of the handshake. */
  | "request-refused"
  /** An error in the program's own words. */
  | "error"
  /** Instructions for whoever typed the command. */
  | "usage"
  /** It waits for connections at an address of this machine, not for messages on stdin. */
  | "serves-http"
  /** Nothing that was recognised: the last lines. */
  | "output";

export interface OutputCause {
  readonly kind: CauseKind;
  /** One sentence without a full stop; the program's own line where no better one is known. */
  readonly summary: string;
  /** What the program printed about it, at most five lines. */
  readonly lines: readonly string[];
  /** What to do about it. */
  readonly advice: string;
}

const maxLines = 5;

/**
 * Finds the reason in what a program printed before it failed: the error and not the frames below it, npm's
 * own errors by name. `lines` are in the order they were written and safe to show already. Undefined when
 * nothing but notices of npm and Node was printed.
 */
export function findCause(lines: readonly string[]): OutputCause | undefined {
  const said = ownWords(lines);
  if (said.length === 0) return undefined;
  const error = lastError(said);
  return (
    npmCause(said) ??
    lastMatch(said.slice(error?.index ?? 0), knownCause) ??
    (error === undefined ? lastMatch(said, variableMissing) : variableIn(error.lines)) ??
    lastMatch(said, knownCause) ??
    (error === undefined ? undefined : (engineCause(lines, error.lines) ?? generic(error.lines))) ??
    printedProblems(said) ??
    usageCause(said) ??
    lastMatch(said, servesHttp) ??
    plainOutput(said)
  );
}

/** The same for what a program printed where a server would send messages: it is none then. */
export function causeInOutput(lines: readonly string[]): OutputCause | undefined {
  const cause = findCause(lines);
  if (cause?.kind !== "output") return cause;
  return {
    kind: "usage",
    summary: `it printed what is no MCP message: ${JSON.stringify(lines[0]?.trim() ?? "")}`,
    lines: lines.map((line) => line.trimEnd()),
    advice: "correct `command` and `args`: this is no MCP server, or not with these arguments",
  };
}

const notices: readonly RegExp[] = [
  /^npm (?:warn|WARN|notice)\b/,
  /^\(node:\d+\) .*Warning:/,
  /^\(Use `node --trace-/,
  // Fields of an error that Node prints below its frames.
  /^\s+(?:code|errno|syscall|address|port|hostname|requireStack|type): /,
  /^Debugger attached\.|^Waiting for the debugger/,
  /^Node\.js v\d/,
  /^npm (?:error|ERR!) (?:A complete log of this run|Log files were not written)/,
  /^npm (?:error|ERR!) +\S*_logs\S*$/,
  /^npm (?:error|ERR!)\s*$/,
  /^\s*$/,
];

/** The lines without what npm and Node print whatever happens, and without quoted source code. */
function ownWords(lines: readonly string[]): readonly string[] {
  return lines.filter((line, index) => {
    if (notices.some((notice) => notice.test(line))) return false;
    // Node quotes the line of code that threw, with its place above it and a caret below it.
    const below = [lines[index + 1], lines[index + 2]];
    const caret = below.findIndex((next) => next !== undefined && /^\s*\^+\s*$/.test(next));
    if (/^\s*\^+\s*$/.test(line) || caret === 0) return false;
    return !(caret === 1 && /:\d+$/.test(line));
  });
}

/** The cause in the last of the lines that tell one. */
function lastMatch(
  lines: readonly string[],
  read: (line: string) => OutputCause | undefined,
): OutputCause | undefined {
  for (const line of lines.toReversed()) {
    const cause = read(line.replace(causedBy, ""));
    if (cause !== undefined) return cause;
  }
  return undefined;
}

const npmError = /^npm (?:error|ERR!) ?/;
const networkCodes =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

/** npm names its failure in a line `code E404`, and explains it in others. */
function npmCause(lines: readonly string[]): OutputCause | undefined {
  const errors = lines.filter((line) => npmError.test(line));
  const texts = errors.map((line) => line.replace(npmError, ""));
  const code = firstMatch(texts, /^code (\S+)/);
  if (code === "E404") {
    const name = firstMatch(
      texts,
      /(?:resource )?'([^'\s]+?)(?:@[^'@]*)?' (?:could not be found|is not in)/,
    );
    const what = name === undefined ? "the package" : `a package ${JSON.stringify(name)}`;
    return {
      kind: "package-missing",
      summary: `npm did not find ${what} (404)`,
      lines: chosen(texts, /^404 +(?:Not Found|The requested)|is not in this registry/, 2),
      advice: "correct the name of the package in `args`",
    };
  }
  if (code !== undefined && networkCodes.test(code))
    return {
      kind: "registry-unreachable",
      summary: `npm could not reach its registry (${code})`,
      lines: chosen(texts, /request to|getaddrinfo|connect /, 1),
      advice: "check the network, the proxy and the registry that npm is set to",
    };
  if (code === "EBADENGINE" || code === "ENOTSUP") {
    const required = firstMatch(texts, /^(?:notsup|engine) Required: *(\{.*\})/);
    return wrongNode(
      required?.replace(/[{}"]/g, "").trim(),
      chosen(texts, /Unsupported engine|Not compatible|Required|Actual/, 4),
    );
  }
  if (texts.length === 0) return undefined;
  // An error of the program that npm ran is repeated by npm as an exit code, and explained above it.
  const own = texts.filter(
    (text) => !/^(?:code|errno|syscall|path|command|signal)\b|^\s+at /.test(text),
  );
  if (own.length === 0 || own.length < lines.length - errors.length) return undefined;
  return { ...generic(own.slice(0, maxLines)), summary: `npm failed: ${own[0] ?? code}` };
}

function wrongNode(required: string | undefined, lines: readonly string[]): OutputCause {
  const which =
    required === undefined ? "another version of Node" : `Node ${required.replace(/^node: */, "")}`;
  return {
    kind: "wrong-node",
    summary: `it needs ${which}`,
    lines,
    advice: "start it with that version of Node, or use a version of the package for this one",
  };
}

/** npm only warns of a wrong Node; a program that then fails in its own syntax or built-ins fails of that. */
function engineCause(lines: readonly string[], error: readonly string[]): OutputCause | undefined {
  const isOfLanguage = /^(?:SyntaxError|TypeError|ReferenceError)\b/.test(error[0] ?? "");
  const required = firstMatch(
    lines,
    /^npm (?:warn|WARN) EBADENGINE +required: \{ *node: '([^']+)'/,
  );
  return isOfLanguage && required !== undefined ? wrongNode(required, error) : undefined;
}

/** Failures whose first sentence can be said better than by the line itself. */
function knownCause(line: string): OutputCause | undefined {
  return (
    commandMissing(line) ??
    moduleMissing(line) ??
    networkCause(line) ??
    nodeTooOld(line) ??
    requestRefused(line)
  );
}

function commandMissing(line: string): OutputCause | undefined {
  const found =
    /^(?:\S*\/)?(?:sh|ash|dash|bash|zsh|ksh)\b[^:]*: (?:line )?(?:\d+: )?(?:exec: )?([\w./@+-]{1,100}): (?:command )?not found$/.exec(
      line,
    ) ??
    /^zsh:\d*:? ?command not found: ([\w./@+-]{1,100})$/.exec(line) ??
    /^(?:\S*\/)?env: ['‘"]?([\w./@+-]{1,100})['’"]?: No such file or directory$/.exec(line) ??
    /^'([\w./@+-]{1,100})' is not recognized as an internal or external command/.exec(line);
  const name = found?.[1];
  if (name === undefined) return undefined;
  return {
    kind: "command-missing",
    summary: `it runs ${JSON.stringify(name)}, which is not installed`,
    lines: [line.trim()],
    advice: `install ${JSON.stringify(name)}, or put its folder on the PATH`,
  };
}

function moduleMissing(line: string): OutputCause | undefined {
  const found =
    /\bCannot find (?:module|package) ['"]([^'"]+)['"]/.exec(line) ??
    /\bNo module named ['"]?([\w.]+)/.exec(line);
  const name = found?.[1];
  if (name === undefined) return undefined;
  return {
    kind: "module-missing",
    summary: `the module ${JSON.stringify(name)} is not there`,
    lines: [line.trim()],
    advice: "install what the server needs, or correct the path in `args`",
  };
}

function networkCause(line: string): OutputCause | undefined {
  const refused =
    /\bECONNREFUSED\b(?: ([\w.[\]:-]+:\d+|\/[\w./-]+))?/.exec(line) ??
    /\bdial \w+ ([\w.[\]:-]+:\d+): connect: connection refused/.exec(line) ??
    /\bconnection to (?:server at )?"?([\w.:-]+).*failed: Connection refused/i.exec(line) ??
    /\bConnectionRefusedError\b()/.exec(line);
  if (refused !== null) {
    const where = refused[1] || undefined;
    return {
      kind: "connection-refused",
      summary: `it could not connect to ${where ?? "something it needs"}: connection refused`,
      lines: [line.trim()],
      advice: `start what listens at ${where ?? "that address"}, or correct its address in "env" or "args" of the entry`,
    };
  }
  const lookup =
    /\b(?:ENOTFOUND|EAI_AGAIN)\b(?: ([\w.-]+))?/.exec(line) ??
    /\blookup ([\w.-]+)(?: on \S+)?: no such host/.exec(line) ??
    /\bgaierror\b()/.exec(line);
  if (lookup === null) return undefined;
  const host =
    lookup[1] === undefined || lookup[1] === ""
      ? "a host it needs"
      : `the host ${JSON.stringify(lookup[1])}`;
  return {
    kind: "host-unknown",
    summary: `it could not find ${host}`,
    lines: [line.trim()],
    advice: 'check the network, or correct the name of the host in "env" or "args" of the entry',
  };
}

function nodeTooOld(line: string): OutputCause | undefined {
  if (/\bNo such built-in module: node:/.test(line)) return wrongNode(undefined, [line.trim()]);
  const found = /\b(?:requires?|needs?) Node(?:\.js)?(?: version)? ?v?([<>=^~]* ?v?\d[\w.]*)/i.exec(
    line,
  );
  return found === null ? undefined : wrongNode(found[1]?.trim(), [line.trim()]);
}

function requestRefused(line: string): OutputCause | undefined {
  const isAboutIt =
    /server\/discover|initializ\w*[ _]?(?:request|notification)|(?:unknown|unsupported|invalid) method|method not found|-32601/i;
  if (!isAboutIt.test(line)) return undefined;
  return {
    ...generic([line.trim()]),
    kind: "request-refused",
    advice: 'say which revision it speaks, such as "protocol": "2025-06-18" in the entry',
  };
}

function variableIn(lines: readonly string[]): OutputCause | undefined {
  const cause = lastMatch(lines, variableMissing);
  return cause === undefined ? undefined : { ...generic(lines), ...cause, lines };
}

/** A name of capitals with an underscore, beside a word that asks for it. */
function variableMissing(line: string): OutputCause | undefined {
  if (/^\s+at |^\s*File "/.test(line)) return undefined;
  if (
    !/\b(?:required?|requires|missing|must|not set|unset|undefined|not (?:provided|defined|found|configured)|set|provide|pass)\b/i.test(
      line,
    )
  )
    return undefined;
  const name = /(?<![\w.])(?!ERR_|NODE_MODULE_VERSION)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w.])/.exec(
    line,
  )?.[0];
  if (name === undefined) return undefined;
  return {
    kind: "variable-missing",
    summary: line.trim(),
    lines: [line.trim()],
    advice: `set ${name} in "env" of the entry`,
  };
}

const errorLine =
  /^(?:Uncaught |Unhandled |Fatal |fatal )?(?:[\w.$]*(?:Error|Exception|Rejection|Exit|Interrupt|panic)\b(?: \[\w+\])?(?::|$)|error(?:\[\w+\])?:|ERROR\b|fatal:|panic:|thread '.*' panicked|Exception in thread)/i;
/** How loggers mark a line as an error: `[ERROR:name] …`. */
const errorTag = /^\[(?:error|fatal|critical)\b[^\]]{0,60}\] ?/i;
const causedBy = /^\s*(?:\[cause\]|Caused by): ?/;
const frame =
  /^\s+at |^\s*File ".*", line \d+|^Require stack:|^\s*-? ?\{?$|^Emitted '|^Traceback \(most recent/;

/** The last error and the lines that belong to it, down to the first frame. */
function lastError(
  lines: readonly string[],
): { readonly index: number; readonly lines: readonly string[] } | undefined {
  const last = lines.findLastIndex((line) => errorLine.test(line) || errorTag.test(line));
  if (last === -1) return undefined;
  const index = firstOfTag(lines, last);
  const rest = lines.slice(index);
  const end = rest.findIndex((line, at) => at > 0 && (frame.test(line) || usage.test(line)));
  const own = (end === -1 ? rest : rest.slice(0, end)).slice(0, maxLines);
  return {
    index,
    lines: own.map((line) => line.replace(errorTag, "").replace(/ \{$/, "").trimEnd()),
  };
}

/** A logger marks every line of one error, advice included: the first of them says what happened. */
function firstOfTag(lines: readonly string[], last: number): number {
  const tag = errorTag.exec(lines[last] ?? "")?.[0];
  if (tag === undefined) return last;
  return lines.slice(0, last).findLastIndex((line) => !line.startsWith(tag)) + 1;
}

/** Checkers of settings print what they found as JSON over many lines, in which only the messages are for people. */
function printedProblems(lines: readonly string[]): OutputCause | undefined {
  const messages = lines.flatMap((line) => /^\s*"message": "(.+)",?$/.exec(line)?.[1] ?? []);
  return messages.length === 0 ? undefined : generic(messages.slice(0, maxLines));
}

const usage = /^\s*usage\b ?:?/i;

function usageCause(lines: readonly string[]): OutputCause | undefined {
  const index = lines.findIndex((line) => usage.test(line));
  if (index === -1) return undefined;
  return {
    kind: "usage",
    summary: "it printed how it is used: it is no MCP server, or not with these arguments",
    lines: lines.slice(index, index + maxLines).map((line) => line.trimEnd()),
    advice: "correct `command` and `args`",
  };
}

function servesHttp(line: string): OutputCause | undefined {
  const address =
    /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d{1,5})?(?:\/[\w./-]*)?/i.exec(
      line,
    )?.[0];
  if (address === undefined) return undefined;
  return {
    kind: "serves-http",
    summary: `it serves HTTP at ${address} instead of stdin and stdout`,
    lines: [line.trim()],
    advice: `start it by itself and write "url": "${address}" in place of "command", or tell it to use stdio`,
  };
}

function plainOutput(lines: readonly string[]): OutputCause {
  const own = lines.filter((line) => !frame.test(line));
  const last = (own.length === 0 ? lines : own).slice(-maxLines);
  return { ...generic(last), kind: "output", summary: last.at(-1)?.trim() ?? "" };
}

function generic(lines: readonly string[]): OutputCause {
  const shown = lines.map((line) => line.trimEnd());
  return {
    kind: "error",
    summary: shown[0]?.trim() ?? "",
    lines: shown,
    advice: "fix what it says",
  };
}

function firstMatch(lines: readonly string[], pattern: RegExp): string | undefined {
  for (const line of lines) {
    const found = pattern.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The lines that fit, the first of all where none does. */
function chosen(lines: readonly string[], pattern: RegExp, count: number): readonly string[] {
  const fitting = lines.filter((line) => pattern.test(line));
  return (fitting.length === 0 ? lines : fitting).slice(0, count).map((line) => line.trim());
}
