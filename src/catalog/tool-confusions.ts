import { skeleton } from "../text/skeleton.ts";
import { truncate } from "../text/truncate.ts";
import { type CatalogProblem, catalogProblem } from "./catalog-problem.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { makeToolName } from "./tool-names.ts";

/** What is compared of a tool; worked out once. */
interface Traits {
  readonly skeleton: string;
  /** Words by which a text can only mean this tool. */
  readonly handles: readonly string[];
  /** Words of its description that could be such handles. */
  readonly words: readonly string[];
}

const traitsOf = new WeakMap<CatalogTool, Traits>();

const maxScanned = 8 * 1_024;
const maxWords = 200;
/** A server whose whole list is confusing is told often enough. */
const maxProblems = 20;
const word = /[A-Za-z][\w./-]{4,127}/g;
/** Written as no word of a sentence is: `read_file`, `readFile`, `files.read`. */
const identifier = /[a-z][A-Z]|[a-zA-Z0-9][_./-][a-zA-Z0-9]/;

/**
 * Which tools could be taken for others: names that differ only in ways the eye does not see, within a
 * server or between two, and descriptions that speak of another server's tool. Equal names on two servers
 * are no confusion, since public names tell them apart.
 */
export class ToolConfusions {
  readonly #servers = new Map<string, readonly CatalogTool[]>();
  readonly #serverNames = new Index<string>();
  readonly #bySkeleton = new Index<CatalogTool>();
  readonly #byHandle = new Index<CatalogTool>();

  /** Makes these the tools of the server. */
  enter(serverName: string, tools: readonly CatalogTool[]): void {
    this.leave(serverName);
    this.#servers.set(serverName, tools);
    this.#serverNames.add(skeleton(serverName), serverName);
    for (const tool of tools) {
      const traits = examine(tool);
      this.#bySkeleton.add(traits.skeleton, tool);
      for (const handle of traits.handles) this.#byHandle.add(handle, tool);
    }
  }

  leave(serverName: string): void {
    const tools = this.#servers.get(serverName);
    if (tools === undefined) return;
    this.#servers.delete(serverName);
    this.#serverNames.delete(skeleton(serverName), serverName);
    for (const tool of tools) {
      const traits = examine(tool);
      this.#bySkeleton.delete(traits.skeleton, tool);
      for (const handle of traits.handles) this.#byHandle.delete(handle, tool);
    }
  }

  problems(serverName: string): readonly CatalogProblem[] {
    const tools = this.#servers.get(serverName) ?? [];
    const twin = this.#serverNames.find(skeleton(serverName), (other) => other !== serverName);
    const found = tools.flatMap((tool) => [...this.#lookalikeOf(tool), ...this.#mentionIn(tool)]);
    const told = found.slice(0, maxProblems);
    if (found.length > told.length)
      told.push(
        catalogProblem(serverName, null, `and ${found.length - told.length} more that confuse`),
      );
    if (twin === undefined) return told;
    const text = `the server's name ${exact(serverName)} ${resembles(serverName, twin)} ${exact(twin)}, another server`;
    return [catalogProblem(serverName, null, text), ...told];
  }

  #lookalikeOf(tool: CatalogTool): readonly CatalogProblem[] {
    const { serverName, originalName } = tool;
    const twin = this.#bySkeleton.find(
      examine(tool).skeleton,
      (other) => other.originalName !== originalName,
    );
    if (twin === undefined) return [];
    const how = resembles(originalName, twin.originalName);
    const text = `its name ${exact(originalName)} ${how} ${describe(twin, serverName)}`;
    return [catalogProblem(serverName, originalName, text)];
  }

  #mentionIn(tool: CatalogTool): readonly CatalogProblem[] {
    const { serverName, originalName } = tool;
    for (const handle of examine(tool).words) {
      const [meant, ...others] = this.#byHandle.all(handle);
      // What its own server offers under that name is what it means.
      if (meant === undefined || [meant, ...others].some((it) => it.serverName === serverName))
        continue;
      const text = `its description speaks of ${describe(meant, serverName)}`;
      return [catalogProblem(serverName, originalName, text)];
    }
    return [];
  }
}

function examine(tool: CatalogTool): Traits {
  let traits = traitsOf.get(tool);
  if (traits === undefined) {
    const { serverName, originalName, description } = tool;
    traits = {
      skeleton: skeleton(originalName),
      handles: [
        makeToolName(serverName, originalName),
        `${serverName}.${originalName}`,
        ...(originalName.length > 5 && identifier.test(originalName) ? [originalName] : []),
      ],
      words: identifiersIn(description),
    };
    traitsOf.set(tool, traits);
  }
  return traits;
}

function identifiersIn(text: string): readonly string[] {
  const words = (text.slice(0, maxScanned).match(word) ?? [])
    .map((found) => found.replace(/[./-]+$/, ""))
    .filter((found) => identifier.test(found));
  return [...new Set(words)].slice(0, maxWords);
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

  all(key: string): readonly Value[] {
    return [...(this.#values.get(key) ?? [])];
  }

  find(key: string, fits: (value: Value) => boolean): Value | undefined {
    for (const value of this.#values.get(key) ?? []) if (fits(value)) return value;
    return undefined;
  }
}
