import { truncate } from "../text/truncate.ts";
import { skeleton } from "../text/untrusted/skeleton.ts";
import { type CatalogProblem, catalogProblem } from "./catalog-problem.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { parseToolName } from "./tool-names.ts";

/** More would hold the event loop, and no person or model can tell so many apart anyway. */
const maxTools = 1_000;
const maxScanned = 8 * 1_024;
const maxScannedPerServer = 256 * 1_024;
/** Of a description, and of all descriptions of a server: what is looked up must not depend on how much is said. */
const maxWords = 200;
const maxWordsPerServer = 20_000;
/** After so many nothing more is looked for: a list that confuses throughout has been told often enough. */
const maxProblems = 20;
const word = /[A-Za-z][\w./-]{4,127}/g;
/** Written as no word of a sentence is: `read_file`, `readFile`, `files.read`. */
const identifier = /[a-z][A-Z]|[a-zA-Z0-9][_./-][a-zA-Z0-9_]/;

interface Entry {
  readonly tool: CatalogTool;
  readonly skeleton: string;
  /** Words of its description that could be names of tools, `server.tool` where a server is named. */
  readonly words: readonly string[];
}

/** Of one server. */
interface Entries {
  readonly entries: readonly Entry[];
  /** By word, the first tool whose description has it. */
  readonly speakers: ReadonlyMap<string, CatalogTool>;
  /** There are more tools than are compared. */
  readonly isCut: boolean;
}

/**
 * Which tools could be taken for others: names that differ only in ways the eye does not see, within a
 * server or between two, and descriptions that speak of another server's tool. Equal names on two servers
 * are no confusion, since public names tell them apart.
 */
export class ToolConfusions {
  readonly #servers = new Map<string, Entries>();
  readonly #serversAlike = new Index<string>();
  readonly #toolsAlike = new Index<CatalogTool>();
  readonly #toolsByName = new Index<CatalogTool>();
  /** By word, one tool of each server whose descriptions have it. */
  readonly #speakers = new Index<CatalogTool>();
  /** What was found since the last change. */
  readonly #known = new Map<string, readonly CatalogProblem[]>();

  /** Makes these the tools of the server. */
  enter(serverName: string, tools: readonly CatalogTool[]): void {
    this.leave(serverName);
    this.#known.clear();
    const speakers = new Map<string, CatalogTool>();
    let wordsLeft = maxWordsPerServer;
    let charsLeft = maxScannedPerServer;
    const entries = tools.slice(0, maxTools).map((tool) => {
      const text = tool.description.slice(0, Math.min(maxScanned, charsLeft));
      charsLeft -= text.length;
      const words = namesIn(text, Math.min(maxWords, wordsLeft));
      wordsLeft -= words.length;
      for (const said of words) if (!speakers.has(said)) speakers.set(said, tool);
      return { tool, skeleton: skeleton(tool.originalName), words };
    });
    this.#servers.set(serverName, { entries, speakers, isCut: tools.length > maxTools });
    this.#serversAlike.add(skeleton(serverName), serverName);
    for (const { tool, skeleton: key } of entries) {
      this.#toolsAlike.add(key, tool);
      this.#toolsByName.add(tool.originalName, tool);
    }
    for (const [said, tool] of speakers) this.#speakers.add(said, tool);
  }

  leave(serverName: string): void {
    const known = this.#servers.get(serverName);
    if (known === undefined) return;
    this.#known.clear();
    this.#servers.delete(serverName);
    this.#serversAlike.delete(skeleton(serverName), serverName);
    for (const { tool, skeleton: key } of known.entries) {
      this.#toolsAlike.delete(key, tool);
      this.#toolsByName.delete(tool.originalName, tool);
    }
    for (const [said, tool] of known.speakers) this.#speakers.delete(said, tool);
  }

  problems(serverName: string): readonly CatalogProblem[] {
    let problems = this.#known.get(serverName);
    if (problems === undefined) {
      problems = [
        ...this.#twinOf(serverName),
        ...this.#ofTools(serverName),
        ...this.#cutOf(serverName),
      ];
      this.#known.set(serverName, problems);
    }
    return problems;
  }

  #ofTools(serverName: string): readonly CatalogProblem[] {
    const found: CatalogProblem[] = [];
    for (const entry of this.#servers.get(serverName)?.entries ?? []) {
      const { originalName } = entry.tool;
      for (const text of [this.#lookalikeOf(entry), this.#mentionBy(entry), this.#mentionOf(entry)])
        if (text !== undefined) found.push(catalogProblem(serverName, originalName, text));
      if (found.length < maxProblems) continue;
      return [...found, catalogProblem(serverName, null, "perhaps more of its tools confuse")];
    }
    return found;
  }

  #cutOf(serverName: string): readonly CatalogProblem[] {
    if (this.#servers.get(serverName)?.isCut !== true) return [];
    const text = `only the first ${maxTools} of its tools were looked at for lookalikes`;
    return [catalogProblem(serverName, null, text)];
  }

  #twinOf(serverName: string): readonly CatalogProblem[] {
    const key = skeleton(serverName);
    const twin = this.#serversAlike.find(key, (other) => other !== serverName);
    if (twin === undefined) return [];
    const how = resembles(serverName, twin);
    const text = `the server's name ${exact(serverName)} ${how} ${exact(twin)}, another server`;
    return [catalogProblem(serverName, null, text)];
  }

  #lookalikeOf({ tool, skeleton: key }: Entry): string | undefined {
    const { serverName, originalName } = tool;
    const twin = this.#toolsAlike.find(key, (other) => other.originalName !== originalName);
    if (twin === undefined) return undefined;
    const how = resembles(originalName, twin.originalName);
    return `its name ${exact(originalName)} ${how} ${describe(twin, serverName)}`;
  }

  #mentionBy({ tool: { serverName }, words }: Entry): string | undefined {
    for (const said of words) {
      const meant = this.#meantBy(said, serverName);
      if (meant !== undefined) return `its description speaks of ${describe(meant, serverName)}`;
    }
    return undefined;
  }

  /** Told on this side, too: the server that is spoken of may be listed after the one that speaks. */
  #mentionOf({ tool: { serverName, originalName } }: Entry): string | undefined {
    const isForeign = (other: CatalogTool): boolean => other.serverName !== serverName;
    const speaker =
      this.#speakers.find(`${serverName}.${originalName}`, isForeign) ??
      this.#speakers.find(
        originalName,
        (other) => isForeign(other) && this.#find(originalName, other.serverName) === undefined,
      );
    if (speaker === undefined) return undefined;
    return `the description of ${describe(speaker, serverName)} speaks of it`;
  }

  /** The tool of another server that the word names, with its server or alone. */
  #meantBy(said: string, serverName: string): CatalogTool | undefined {
    const dot = said.indexOf(".");
    const server = said.slice(0, Math.max(0, dot));
    if (server !== "")
      return server === serverName ? undefined : this.#find(said.slice(dot + 1), server);
    const first = this.#find(said);
    // What its own server offers under that name is what it means.
    return first !== undefined && this.#find(said, serverName) === undefined ? first : undefined;
  }

  #find(name: string, serverName?: string): CatalogTool | undefined {
    return this.#toolsByName.find(
      name,
      (tool) => serverName === undefined || tool.serverName === serverName,
    );
  }
}

function namesIn(text: string, limit: number): readonly string[] {
  const names = new Set<string>();
  if (limit === 0) return [];
  for (const [found] of text.matchAll(word)) {
    if (!identifier.test(found)) continue;
    const { server, tool } = parseToolName(found.replace(/[./-]+$/, ""));
    names.add(server === "" ? tool : `${server}.${tool}`);
    if (names.size === limit) break;
  }
  return [...names];
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

/** Objects or texts by key, of which almost every key has one: that one is not put into a set. */
class Index<Value extends string | CatalogTool> {
  readonly #values = new Map<string, Value | Set<Value>>();

  add(key: string, value: Value): void {
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, value);
    else if (known instanceof Set) known.add(value);
    else if (known !== value) this.#values.set(key, new Set([known, value]));
  }

  delete(key: string, value: Value): void {
    const known = this.#values.get(key);
    if (known instanceof Set) known.delete(value);
    if (known === value || (known instanceof Set && known.size === 0)) this.#values.delete(key);
  }

  find(key: string, fits: (value: Value) => boolean): Value | undefined {
    const known = this.#values.get(key);
    if (known === undefined) return undefined;
    for (const value of known instanceof Set ? known : [known]) if (fits(value)) return value;
    return undefined;
  }
}
