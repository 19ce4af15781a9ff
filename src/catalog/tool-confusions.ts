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

const nothing: readonly CatalogProblem[] = Object.freeze([]);

interface Entry {
  readonly tool: CatalogTool;
  readonly skeleton: string;
  /** Words of its description that could be names of tools, `server.tool` where a server is named. */
  readonly words: readonly string[];
}

/** Of one server. */
interface Entries {
  /** The skeleton of the server's own name. */
  readonly skeleton: string;
  readonly entries: readonly Entry[];
  /** By word, the first tool whose description has it. */
  readonly speakers: ReadonlyMap<string, CatalogTool>;
  /** There are more tools than are compared. */
  readonly isCut: boolean;
}

/**
 * Which tools could be taken for others: names that differ only in ways the eye does not see, within a
 * server or between two, and descriptions that speak of another server's tool. Equal names on two servers
 * are no confusion, since public names tell them apart. A thousand servers may have a tool of one name, so no
 * question goes through all tools of a name.
 */
export class ToolConfusions {
  readonly #servers = new Map<string, Entries>();
  readonly #serversAlike = new Index<string>();
  readonly #toolsByName = new Index<CatalogTool>();
  /** By skeleton, the different names of tools that have it. */
  readonly #namesAlike = new Index<string>();
  /** By `server.tool`, one tool of each server whose descriptions name that tool. */
  readonly #namers = new Index<CatalogTool>();
  /** By word, one tool of each server whose descriptions have it and that has no tool of that name itself. */
  readonly #outsiders = new Index<CatalogTool>();
  /** What was found since the last change. */
  readonly #known = new Map<string, readonly CatalogProblem[]>();
  /** The tools of servers that nobody has asked about since they came: a start that only offers tools never does. */
  readonly #unexamined = new Map<string, readonly CatalogTool[]>();

  /** Makes these the tools of the server. They are looked at when somebody asks what could be confused. */
  enter(serverName: string, tools: readonly CatalogTool[]): void {
    this.#unexamined.delete(serverName);
    this.#unexamined.set(serverName, tools);
    this.#known.clear();
  }

  /** Looks at what has come, as long as `isTime`; false when something is left. */
  examine(isTime: () => boolean = () => true): boolean {
    for (const [serverName, tools] of this.#unexamined) {
      if (!isTime()) return false;
      this.#unexamined.delete(serverName);
      this.#examine(serverName, tools);
    }
    return true;
  }

  #examine(serverName: string, tools: readonly CatalogTool[]): void {
    this.#drop(serverName);
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
    const own = {
      skeleton: skeleton(serverName),
      entries,
      speakers,
      isCut: tools.length > maxTools,
    };
    this.#servers.set(serverName, own);
    this.#serversAlike.add(own.skeleton, serverName, serverName);
    for (const { tool, skeleton: key } of entries) {
      this.#toolsByName.add(tool.originalName, serverName, tool);
      this.#namesAlike.add(key, tool.originalName, tool.originalName);
    }
    for (const [said, tool] of speakers) {
      if (said.includes(".")) this.#namers.add(said, serverName, tool);
      if (!this.#toolsByName.has(said, serverName)) this.#outsiders.add(said, serverName, tool);
    }
  }

  leave(serverName: string): void {
    this.#unexamined.delete(serverName);
    this.#known.clear();
    this.#drop(serverName);
  }

  #drop(serverName: string): void {
    const known = this.#servers.get(serverName);
    if (known === undefined) return;
    this.#servers.delete(serverName);
    this.#serversAlike.delete(known.skeleton, serverName);
    for (const { tool, skeleton: key } of known.entries) {
      this.#toolsByName.delete(tool.originalName, serverName);
      if (this.#toolsByName.first(tool.originalName) === undefined)
        this.#namesAlike.delete(key, tool.originalName);
    }
    for (const said of known.speakers.keys()) {
      this.#namers.delete(said, serverName);
      this.#outsiders.delete(said, serverName);
    }
  }

  problems(serverName: string): readonly CatalogProblem[] {
    if (this.#unexamined.size > 0) this.examine();
    let problems = this.#known.get(serverName);
    if (problems === undefined) {
      const own = this.#servers.get(serverName);
      // So it is of almost every server, and a thousand are asked about together.
      if (own === undefined || !this.#isSuspect(serverName, own)) return nothing;
      problems = [
        ...this.#twinOf(serverName, own),
        ...this.#ofTools(serverName, own),
        ...this.#cutOf(serverName, own),
      ];
      this.#known.set(serverName, problems);
    }
    return problems;
  }

  /** Whether there could be anything to say of the server. */
  #isSuspect(serverName: string, own: Entries): boolean {
    return (
      own.isCut ||
      this.#mayConfuse(own) ||
      this.#serversAlike.firstBeside(own.skeleton, serverName) !== undefined
    );
  }

  #ofTools(serverName: string, own: Entries): readonly CatalogProblem[] {
    const found: CatalogProblem[] = [];
    if (!this.#mayConfuse(own)) return found;
    for (const entry of own.entries) {
      const { originalName } = entry.tool;
      for (const text of [this.#lookalikeOf(entry), this.#mentionBy(entry), this.#mentionOf(entry)])
        if (text !== undefined) found.push(catalogProblem(serverName, originalName, text));
      if (found.length < maxProblems) continue;
      return [...found, catalogProblem(serverName, null, "perhaps more of its tools confuse")];
    }
    return found;
  }

  /** False when no name has a lookalike and no description names a tool: mostly no tool has to be looked at. */
  #mayConfuse({ speakers }: Entries): boolean {
    return (
      speakers.size > 0 ||
      this.#namesAlike.hasShared ||
      !this.#outsiders.isEmpty ||
      !this.#namers.isEmpty
    );
  }

  #cutOf(serverName: string, { isCut }: Entries): readonly CatalogProblem[] {
    if (!isCut) return [];
    const text = `only the first ${maxTools} of its tools were looked at for lookalikes`;
    return [catalogProblem(serverName, null, text)];
  }

  #twinOf(serverName: string, own: Entries): readonly CatalogProblem[] {
    const twin = this.#serversAlike.firstBeside(own.skeleton, serverName);
    if (twin === undefined) return [];
    const how = resembles(serverName, twin);
    const text = `the server's name ${exact(serverName)} ${how} ${exact(twin)}, another server`;
    return [catalogProblem(serverName, null, text)];
  }

  #lookalikeOf({ tool, skeleton: key }: Entry): string | undefined {
    const { serverName, originalName } = tool;
    const name = this.#namesAlike.firstBeside(key, originalName);
    const twin = name === undefined ? undefined : this.#toolsByName.first(name);
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
    const speaker =
      this.#namerOf(serverName, originalName) ??
      this.#outsiders.firstBeside(originalName, serverName);
    if (speaker === undefined) return undefined;
    return `the description of ${describe(speaker, serverName)} speaks of it`;
  }

  #namerOf(serverName: string, originalName: string): CatalogTool | undefined {
    // Few descriptions name a tool with its server: mostly there is no text to be made and looked up.
    if (this.#namers.isEmpty) return undefined;
    return this.#namers.firstBeside(`${serverName}.${originalName}`, serverName);
  }

  /** The tool of another server that the word names, with its server or alone. */
  #meantBy(said: string, serverName: string): CatalogTool | undefined {
    const dot = said.indexOf(".");
    const server = said.slice(0, Math.max(0, dot));
    if (server !== "")
      return server === serverName ? undefined : this.#toolsByName.get(said.slice(dot + 1), server);
    // What its own server offers under that name is what it means.
    return this.#toolsByName.has(said, serverName) ? undefined : this.#toolsByName.first(said);
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

/**
 * Values by key and owner, one of each owner. Almost every key has one value, which is then not put into a map
 * of its own.
 */
class Index<Value extends string | CatalogTool> {
  readonly #values = new Map<string, Only<Value> | Map<string, Value>>();
  #sharedKeys = 0;

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** Whether any key has values of more than one owner. */
  get hasShared(): boolean {
    return this.#sharedKeys > 0;
  }

  add(key: string, owner: string, value: Value): void {
    const known = this.#values.get(key);
    if (known instanceof Map) known.set(owner, value);
    else if (known === undefined || known.owner === owner) this.#values.set(key, { owner, value });
    else {
      this.#values.set(key, new Map([[known.owner, known.value]]).set(owner, value));
      this.#sharedKeys += 1;
    }
  }

  delete(key: string, owner: string): void {
    const known = this.#values.get(key);
    if (known === undefined) return;
    if (!(known instanceof Map)) {
      if (known.owner === owner) this.#values.delete(key);
      return;
    }
    known.delete(owner);
    if (known.size > 1) return;
    this.#sharedKeys -= 1;
    for (const [left, value] of known) this.#values.set(key, { owner: left, value });
  }

  get(key: string, owner: string): Value | undefined {
    const known = this.#values.get(key);
    if (known instanceof Map) return known.get(owner);
    return known?.owner === owner ? known.value : undefined;
  }

  has(key: string, owner: string): boolean {
    return this.get(key, owner) !== undefined;
  }

  first(key: string): Value | undefined {
    const known = this.#values.get(key);
    if (!(known instanceof Map)) return known?.value;
    for (const value of known.values()) return value;
    return undefined;
  }

  /** The first value of another owner. */
  firstBeside(key: string, owner: string): Value | undefined {
    const known = this.#values.get(key);
    if (!(known instanceof Map)) return known?.owner === owner ? undefined : known?.value;
    for (const [other, value] of known) if (other !== owner) return value;
    return undefined;
  }
}

interface Only<Value> {
  readonly owner: string;
  readonly value: Value;
}
