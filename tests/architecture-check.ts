import path from "node:path";

import {
  type Door,
  doors,
  maxFileLines,
  maxFolderFiles,
  publicEntries,
  refusedFileNames,
  rooms,
} from "./architecture-table.ts";
import {
  type AstNode,
  identifierName,
  isNode,
  literalText,
  parseSource,
  walk,
} from "./syntax-tree.ts";

/** A file of `src/`; the path is relative to it and uses `/`. */
export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

interface Import {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
}

/** What a file imports and touches, as far as the rules care. */
interface Facts {
  readonly imports: readonly Import[];
  readonly hasComputedImport: boolean;
  readonly globals: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
  readonly methods: ReadonlySet<string>;
  readonly calls: ReadonlySet<string>;
  readonly literals: readonly string[];
}

/** `b` of `a.b` and of `a["b"]`. */
function propertyName(node: AstNode): string | undefined {
  return node["computed"] === true
    ? literalText(node["property"])
    : identifierName(node["property"]);
}

/** Whether every name of an import or export list is marked `type`. */
function isTypeOnly(node: AstNode): boolean {
  if (node["importKind"] === "type" || node["exportKind"] === "type") return true;
  const specifiers = (node["specifiers"] ?? []) as readonly AstNode[];
  return (
    specifiers.length > 0 &&
    specifiers.every(({ importKind, exportKind }) => importKind === "type" || exportKind === "type")
  );
}

/** Identifier nodes that are no reference to a variable, and names that the file declares itself. */
function namesOf(program: AstNode): {
  readonly labels: Set<unknown>;
  readonly declared: Set<string>;
} {
  const labels = new Set<unknown>();
  const declared = new Set<string>();
  // Only what is bound: defaults and types inside of a pattern are references.
  const declare = (pattern: unknown): void => {
    if (!isNode(pattern)) return;
    const name = identifierName(pattern);
    if (name !== undefined) declared.add(name);
    for (const key of ["left", "argument", "value"]) declare(pattern[key]);
    for (const key of ["elements", "properties"])
      for (const part of (pattern[key] ?? []) as readonly unknown[]) declare(part);
  };
  walk(program, (node) => {
    switch (node.type) {
      case "MemberExpression":
        if (node["computed"] !== true) labels.add(node["property"]);
        break;
      case "Property":
      case "MethodDefinition":
      case "PropertyDefinition":
        if (node["computed"] !== true) labels.add(node["key"]);
        break;
      case "ImportSpecifier":
      case "ImportDefaultSpecifier":
      case "ImportNamespaceSpecifier":
        declare(node["local"]);
        break;
      case "VariableDeclarator":
        declare(node["id"]);
        break;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        declare(node["id"]);
        for (const parameter of (node["params"] ?? []) as readonly unknown[]) declare(parameter);
        break;
      default:
    }
  });
  return { labels, declared };
}

function readFacts(file: SourceFile): Facts {
  const program = parseSource(file.source);
  const { labels, declared } = namesOf(program);
  const imports: Import[] = [];
  const globals = new Set<string>();
  const members = new Set<string>();
  const methods = new Set<string>();
  const calls = new Set<string>();
  const literals: string[] = [];
  let hasComputedImport = false;

  const addImport = (source: unknown, typeOnly: boolean): void => {
    const specifier = literalText(source);
    if (specifier === undefined || specifier.includes("${}")) hasComputedImport = true;
    else imports.push({ specifier, isTypeOnly: typeOnly });
  };

  walk(program, (node, isType) => {
    switch (node.type) {
      case "ImportDeclaration":
        addImport(node["source"], isTypeOnly(node));
        if (literalText(node["source"]) === "node:process")
          for (const specifier of node["specifiers"] as readonly AstNode[])
            members.add(`process.${identifierName(specifier["imported"]) ?? ""}`);
        break;
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
        if (isNode(node["source"])) addImport(node["source"], isTypeOnly(node));
        break;
      case "ImportExpression":
        addImport(node["source"], false);
        break;
      case "TSImportType":
        addImport(node["source"], true);
        break;
      case "Identifier": {
        const name = node["name"] as string;
        if (!isType && !labels.has(node) && !declared.has(name)) globals.add(name);
        break;
      }
      case "MemberExpression": {
        const property = propertyName(node);
        const object = node["object"];
        if (property === undefined || !isNode(object)) break;
        const owner =
          object.type === "MemberExpression" ? propertyName(object) : identifierName(object);
        members.add(`${owner ?? ""}.${property}`);
        if (owner === "globalThis") globals.add(property);
        break;
      }
      case "CallExpression": {
        const callee = node["callee"];
        if (!isNode(callee) || callee.type !== "MemberExpression") break;
        const method = propertyName(callee) ?? "";
        const argument = literalText((node["arguments"] as readonly unknown[])[0]);
        methods.add(method);
        if (argument !== undefined) calls.add(`${method}(${argument})`);
        break;
      }
      case "Literal":
      case "TemplateLiteral":
        if (!isType) literals.push(literalText(node) ?? "");
        break;
      default:
    }
  });
  return { imports, hasComputedImport, globals, members, methods, calls, literals };
}

const roomOf = (file: string): string => (file.includes("/") ? (file.split("/")[0] ?? "") : file);
const rank = new Map([...rooms, ...publicEntries].map(({ name }, index) => [name, index]));

/** Whether a list of rooms, districts and single files covers the file. */
const isAmong = (places: readonly string[], file: string): boolean =>
  places.some((place) => place === file || file.startsWith(`${place}/`));

const districtsOf = new Map(
  rooms.map(({ name, districts = {} }) => [name, Object.keys(districts)] as const),
);

/** The district of a room that the file lies in, or the file itself where it lies in none. */
const districtOf = (file: string): string => file.split("/")[1] ?? file;

/** How high the file lies within its room; what the table does not name lies above all districts. */
function districtRank(file: string): number {
  const districts = districtsOf.get(roomOf(file)) ?? [];
  const index = districts.indexOf(districtOf(file));
  return index === -1 ? districts.length : index;
}

/** The file an import means, relative to `src/`; undefined for packages and builtins. */
function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
}

function checkName(file: SourceFile): string[] {
  const problems: string[] = [];
  const base = path.posix.basename(file.path).replace(/\.ts$/, "");
  if (!rank.has(roomOf(file.path))) problems.push("is in no room of the table");
  else if (
    file.path.split("/").length > 2 &&
    districtRank(file.path) === districtsOf.get(roomOf(file.path))?.length
  )
    problems.push("is in no district of its room");
  if (refusedFileNames.test(base)) problems.push(`"${base}" does not say what the file holds`);
  const lines = file.source.trimEnd().split("\n").length;
  if (lines > maxFileLines) problems.push(`has ${lines} lines, more than ${maxFileLines}`);
  return problems;
}

function checkImports(file: string, facts: Facts): string[] {
  const problems: string[] = [];
  const room = roomOf(file);
  const surface = rooms.find(({ name }) => name === room)?.runs;
  if (facts.hasComputedImport) problems.push("has an import whose target is computed");
  for (const { specifier, isTypeOnly: typeOnly } of facts.imports) {
    const target = targetOf(file, specifier);
    if (target === undefined) continue;
    const targetRoom = roomOf(target);
    const targetRank = rank.get(targetRoom);
    if (targetRank === undefined) problems.push(`imports ${specifier}, which is in no room`);
    else if (targetRank > (rank.get(room) ?? -1))
      problems.push(`imports ${specifier}: ${targetRoom} lies above ${room}`);
    else if (targetRoom === room && districtRank(target) > districtRank(file))
      problems.push(`imports ${specifier}: ${districtOf(target)} lies above ${districtOf(file)}`);
    else if (surface !== undefined && !typeOnly && targetRoom !== room && !isAmong(surface, target))
      problems.push(`runs code of ${specifier}: ${room} may only run ${surface.join(", ")}`);
  }
  return problems;
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const builtinName = (specifier: string): string =>
  specifier.startsWith("node:") ? specifier.slice("node:".length) : specifier;

function usesOf(door: Door, facts: Facts): string[] {
  const { modules = [], globals = [], members = [], methods = [], calls = [], literals } = door;
  const imported = facts.imports.filter(
    ({ specifier, isTypeOnly: typeOnly }) =>
      !typeOnly && modules.some((module) => matches(builtinName(module), builtinName(specifier))),
  );
  return [
    ...imported.map(({ specifier }) => specifier),
    ...globals.filter((name) => facts.globals.has(name)),
    ...members.filter((name) => facts.members.has(name)),
    ...methods.filter((name) => facts.methods.has(name)).map((name) => `.${name}()`),
    ...calls
      .map(({ method, argument }) => `${method}(${argument})`)
      .filter((call) => facts.calls.has(call)),
    ...(literals === undefined ? [] : facts.literals.filter((text) => literals.test(text))),
  ];
}

function checkDoors(file: string, facts: Facts): string[] {
  return doors.flatMap((door) => {
    if (isAmong(door.allowed, file)) return [];
    return usesOf(door, facts).map(
      (use) => `${use}: only ${door.allowed.join(", ")} may ${door.what}`,
    );
  });
}

/** Each group of files that import one another, be it for types alone, as a path that leads back to its start. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start !== -1) cycles.push([...trail.slice(start), file].join(" → "));
    if (start !== -1 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

function checkFolders(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path: file } of files) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > maxFolderFiles)
    .map(([folder, count]) => `${folder} has ${count} files, more than ${maxFolderFiles}`);
}

/** Every rule of the table that the files break, one sentence each. */
export function checkArchitecture(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  const graph = new Map<string, readonly string[]>();
  for (const file of files) {
    const facts = readFacts(file);
    const found = [
      ...checkName(file),
      ...checkImports(file.path, facts),
      ...checkDoors(file.path, facts),
    ];
    problems.push(...found.map((problem) => `${file.path} ${problem}`));
    const targets = facts.imports.map(({ specifier }) => targetOf(file.path, specifier));
    graph.set(
      file.path,
      targets.filter((target) => target !== undefined),
    );
  }
  problems.push(...checkFolders(files));
  return [...problems, ...findCycles(graph).map((cycle) => `cycle: ${cycle}`)];
}
