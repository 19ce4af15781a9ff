import type { CatalogTool } from "./catalog-tool.ts";
import type { NameWarning } from "./tool-names.ts";

/** Something about the public names of tools that a person should know; all of them can be called. */
export interface NameProblem {
  /** Undefined when it is about tools of several servers. */
  readonly serverName: string | undefined;
  readonly text: string;
}

/** After so many at once nobody reads on. */
const maxNews = 20;
/** More than any catalog has at once; what is forgotten is told again, never kept back. */
const maxTold = 10_000;

/** `tools` in the order in which they were named. */
export function nameProblems(
  warnings: readonly NameWarning[],
  tools: readonly CatalogTool[],
): readonly NameProblem[] {
  return warnings.flatMap((warning) => {
    const about = warning.entries.flatMap((index) => tools[index] ?? []);
    if (isToldOfTheTools(warning, about)) return [];
    const [serverName, ...others] = new Set(about.map((tool) => tool.serverName));
    return [{ serverName: others.length === 0 ? serverName : undefined, text: warning.text }];
  });
}

/** That a server's `Query` could be taken for a `query` is told when it lists them, whatever they are called here. */
function isToldOfTheTools({ kind, native }: NameWarning, about: readonly CatalogTool[]): boolean {
  if (kind !== "case" || native !== undefined) return false;
  return new Set(about.map(({ originalName }) => originalName.toLowerCase())).size === 1;
}

/**
 * Which problems of names are news. Names are made for each session, and anew with every list that a
 * server sends; a person is told once.
 */
export class NameNews {
  readonly #taken = new WeakSet<readonly NameProblem[]>();
  readonly #told = new Set<string>();

  /** Costs next to nothing for a list that was taken before. */
  take(problems: readonly NameProblem[]): readonly NameProblem[] {
    if (this.#taken.has(problems)) return [];
    this.#taken.add(problems);
    const news = problems.filter(({ text }) => !this.#told.has(text));
    for (const { text } of news) this.#told.add(text);
    for (const text of this.#told) {
      if (this.#told.size <= maxTold) break;
      this.#told.delete(text);
    }
    const rest = news.length - maxNews;
    if (rest <= 0) return news;
    const text = `${rest} more names of tools were changed or could be mistaken for others`;
    return [...news.slice(0, maxNews), { serverName: undefined, text }];
  }
}
