import type { NameWarning } from "./public-names.ts";

/** A problem with the public names of tools; the tools can be called all the same. */
export interface NameProblem {
  /** The server of the tools; undefined for tools of several servers. */
  readonly serverName: string | undefined;
  readonly text: string;
}

/** How many problems are reported at once; the rest is only counted. */
const maxNews = 20;
/** How many reported problems are remembered. One that was forgotten is reported again. */
const maxReported = 10_000;

/** The problems behind the warnings of naming. */
export function nameProblems(warnings: readonly NameWarning[]): readonly NameProblem[] {
  return warnings.flatMap((warning) => {
    if (isReportedByCatalog(warning)) return [];
    const [serverName, ...others] = new Set(warning.about.map(({ origin }) => origin.server));
    return [{ serverName: others.length === 0 ? serverName : undefined, text: warning.text }];
  });
}

/** Whether the catalog reports it already: `Query` beside `query` of one server is noticed when it lists them. */
function isReportedByCatalog({ kind, native, about }: NameWarning): boolean {
  if (kind !== "case" || native !== undefined) return false;
  return new Set(about.map(({ origin }) => origin.tool.toLowerCase())).size === 1;
}

/**
 * Finds the name problems that were not reported yet. Names are made for each session, and anew with
 * every list that a server sends, but a person is told of a problem once.
 */
export class NameNews {
  readonly #seenLists = new WeakSet<readonly NameProblem[]>();
  readonly #reported = new Set<string>();

  /** Returns the new problems of a list, and none for a list that was taken before. */
  take(problems: readonly NameProblem[]): readonly NameProblem[] {
    if (this.#seenLists.has(problems)) return [];
    this.#seenLists.add(problems);
    const news = problems.filter(({ text }) => !this.#reported.has(text));
    for (const { text } of news) this.#reported.add(text);
    for (const text of this.#reported) {
      if (this.#reported.size <= maxReported) break;
      this.#reported.delete(text);
    }
    const rest = news.length - maxNews;
    if (rest <= 0) return news;
    const text = `${rest} more names of tools were changed or could be mistaken for others`;
    return [...news.slice(0, maxNews), { serverName: undefined, text }];
  }
}
