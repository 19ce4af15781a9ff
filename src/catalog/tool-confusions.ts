import { skeleton } from "../text/skeleton.ts";
import { truncate } from "../text/truncate.ts";
import { type CatalogProblem, catalogProblem } from "./catalog-problem.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { type ParsedToolName, parseToolName } from "./tool-names.ts";

const maxScanned = 8 * 1_024;
const maxWords = 200;
/** A server whose whole list is confusing is told often enough. */
const maxProblems = 20;
const word = /[A-Za-z][\w./-]{4,127}/g;
/** Written as no word of a sentence is: `read_file`, `readFile`, `files.read`. */
const identifier = /[a-z][A-Z]|[a-zA-Z0-9][_./-][a-zA-Z0-9_]/;

/**
 * Which tools could be taken for others: names that differ only in ways the eye does not see, within a
 * server or between two, and descriptions that speak of another server's tool. Equal names on two servers
 * are no confusion, since public names tell them apart.
 */
export class ToolConfusions {
  readonly #tools = new Map<string, readonly CatalogTool[]>();
  readonly #serversAlike = new Index<string>();
  readonly #toolsAlike = new Index<CatalogTool>();
  /** What was found since the last change. */
  readonly #known = new Map<string, readonly CatalogProblem[]>();

  /** Makes these the tools of the server. */
  enter(serverName: string, tools: readonly CatalogTool[]): void {
    this.leave(serverName);
    this.#known.clear();
    this.#tools.set(serverName, tools);
    this.#serversAlike.add(skeleton(serverName), serverName);
    for (const tool of tools) this.#toolsAlike.add(skeleton(tool.originalName), tool);
  }

  leave(serverName: string): void {
    const tools = this.#tools.get(serverName);
    if (tools === undefined) return;
    this.#known.clear();
    this.#tools.delete(serverName);
    this.#serversAlike.delete(skeleton(serverName), serverName);
    for (const tool of tools) this.#toolsAlike.delete(skeleton(tool.originalName), tool);
  }

  problems(serverName: string): readonly CatalogProblem[] {
    let problems = this.#known.get(serverName);
    if (problems === undefined) {
      problems = [...this.#twinOf(serverName), ...this.#ofTools(serverName)];
      this.#known.set(serverName, problems);
    }
    return problems;
  }

  #ofTools(serverName: string): readonly CatalogProblem[] {
    const tools = this.#tools.get(serverName) ?? [];
    const found = tools.flatMap((tool) => [...this.#lookalikeOf(tool), ...this.#mentionIn(tool)]);
    const rest = found.splice(maxProblems).length;
    if (rest > 0)
      found.push(catalogProblem(serverName, null, `${rest} more tools could be confused`));
    return found;
  }

  #twinOf(serverName: string): readonly CatalogProblem[] {
    const key = skeleton(serverName);
    const twin = this.#serversAlike.find(key, (other) => other !== serverName);
    if (twin === undefined) return [];
    const how = resembles(serverName, twin);
    const text = `the server's name ${exact(serverName)} ${how} ${exact(twin)}, another server`;
    return [catalogProblem(serverName, null, text)];
  }

  #lookalikeOf({ serverName, originalName }: CatalogTool): readonly CatalogProblem[] {
    const key = skeleton(originalName);
    const twin = this.#toolsAlike.find(key, (other) => other.originalName !== originalName);
    if (twin === undefined) return [];
    const how = resembles(originalName, twin.originalName);
    const text = `its name ${exact(originalName)} ${how} ${describe(twin, serverName)}`;
    return [catalogProblem(serverName, originalName, text)];
  }

  #mentionIn({ serverName, originalName, description }: CatalogTool): readonly CatalogProblem[] {
    for (const found of identifiersIn(description)) {
      const meant = this.#meantBy(found, serverName);
      if (meant === undefined) continue;
      const text = `its description speaks of ${describe(meant, serverName)}`;
      return [catalogProblem(serverName, originalName, text)];
    }
    return [];
  }

  /** The tool of another server that the word names, with its server or alone. */
  #meantBy(found: string, serverName: string): CatalogTool | undefined {
    const { server, tool } = found.startsWith("mcp__") ? parseToolName(found) : splitAtDot(found);
    if (server !== "") return server === serverName ? undefined : this.#find(tool, server);
    const first = this.#find(tool);
    // What its own server offers under that name is what it means.
    return first !== undefined && this.#find(tool, serverName) === undefined ? first : undefined;
  }

  #find(name: string, serverName?: string): CatalogTool | undefined {
    return this.#toolsAlike.find(
      skeleton(name),
      (tool) =>
        tool.originalName === name && (serverName === undefined || tool.serverName === serverName),
    );
  }
}

function identifiersIn(text: string): readonly string[] {
  const words = (text.slice(0, maxScanned).match(word) ?? [])
    .map((found) => found.replace(/[./-]+$/, ""))
    .filter((found) => identifier.test(found));
  return [...new Set(words)].slice(0, maxWords);
}

/** `server.tool`, the way a person types it. */
function splitAtDot(text: string): ParsedToolName {
  const dot = text.indexOf(".");
  if (dot === -1) return { server: "", tool: text };
  return { server: text.slice(0, dot), tool: text.slice(dot + 1) };
}

function resembles(name: string, other: string): string {
  return name.toLowerCase() === other.toLowerCase()
    ? "differs only in upper and lower case from"
    : "looks like";
}

function describe({ serverName, originalName }: CatalogTool, from: string): string {
  const owner = serverName === from ? "" : ` of ${exact(serverName)}`;
  return `${exact(originalName)}${owner}`;
}

/** In quotes, with every letter that is not plain ASCII written as an escape: the eye cannot tell otherwise. */
function exact(name: string): string {
  const escaped = JSON.stringify(name).replace(
    /[^\u0020-\u007E]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return truncate(escaped, 160);
}

/** Values by key, of which a key may have several. */
class Index<Value> {
  readonly #values = new Map<string, Set<Value>>();

  add(key: string, value: Value): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  delete(key: string, value: Value): void {
    const values = this.#values.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#values.delete(key);
  }

  find(key: string, fits: (value: Value) => boolean): Value | undefined {
    for (const value of this.#values.get(key) ?? []) if (fits(value)) return value;
    return undefined;
  }
}
