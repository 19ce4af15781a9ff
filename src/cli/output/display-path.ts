import path from "node:path";

/** Where the reader stands: paths are shown from there, and commands as they have to be typed there. */
export interface Standpoint {
  readonly cwd: string;
  readonly home: string | undefined;
  /** What a command begins with: the program, and the options without which it would mean something else. */
  readonly program: string;
  /** A server that is not configured: commands mention its name, which means nothing to the next one. */
  readonly typedServer?: { readonly name: string; readonly words: string } | undefined;
}

export type Places = Pick<Standpoint, "cwd" | "home">;

/** Relative inside the current folder, `~/…` inside the home folder, in full elsewhere. */
export function displayPath(file: string, { cwd, home }: Places): string {
  const fromCwd = relativeInside(cwd, file);
  if (fromCwd !== undefined) return fromCwd;
  const fromHome = home === undefined ? undefined : relativeInside(home, file);
  return fromHome === undefined ? file : `~${path.sep}${fromHome}`;
}

function relativeInside(folder: string, file: string): string | undefined {
  const relative = path.relative(folder, file);
  const isInside = relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
  return isInside ? relative : undefined;
}

/** The same for every path that a text mentions. */
export function displayPathsIn(text: string, { cwd, home }: Places): string {
  const inside = isRoot(cwd) ? text : text.replaceAll(`${cwd}${path.sep}`, "");
  if (home === undefined || isRoot(home)) return inside;
  return inside.replaceAll(`${home}${path.sep}`, `~${path.sep}`);
}

function isRoot(folder: string): boolean {
  return path.dirname(folder) === folder;
}
