import { isDeepStrictEqual } from "node:util";

import { McpError } from "../../../src/errors/mcp-error.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project, watchTraffic } from "../project.ts";
import type { Figures, Row } from "../row.ts";

interface OddFile {
  readonly text: string | Uint8Array;
  /** Names of the servers it defines; undefined when it is to be refused as a whole. */
  readonly servers: readonly string[] | undefined;
}

const entry = '{ "command": "node", "args": ["-e", ""] }';
const mebibyte = 2 ** 20;
const wrap = (members: string): string => `{ "mcpServers": { ${members} } }`;
const padded = (bytes: number): string => {
  const text = wrap(`"a": ${entry}`);
  return `${text}${" ".repeat(bytes - text.length)}`;
};

/** Made anew for each use: some of them are large. */
const oddFiles: Readonly<Record<string, () => OddFile>> = {
  "a server twice": () => ({
    text: wrap(`"a": { "command": "x" }, "a": ${entry}`),
    servers: ["a"],
  }),
  "a key twice": () => ({
    text: wrap('"a": { "command": "x", "command": "node" }'),
    servers: ["a"],
  }),
  "all servers twice": () => ({
    text: `{ "mcpServers": { "b": ${entry} }, "mcpServers": { "a": ${entry} } }`,
    servers: ["a"],
  }),
  BOM: () => ({ text: `\uFEFF${wrap(`"a": ${entry}`)}`, servers: ["a"] }),
  "two BOMs": () => ({ text: `\uFEFF\uFEFF${wrap(`"a": ${entry}`)}`, servers: undefined }),
  __proto__: () => ({
    text: wrap(`"__proto__": { "command": "node", "polluted": true, "env": { "__proto__": "x" } }`),
    servers: ["__proto__"],
  }),
  constructor: () => ({
    text: wrap(
      `"constructor": { "command": "node", "env": { "prototype": "x" } }, "toString": ${entry}`,
    ),
    servers: ["constructor", "toString"],
  }),
  "prototype of all": () => ({
    text: `{ "__proto__": { "mcpServers": { "a": ${entry} } } }`,
    servers: [],
  }),
  "1 MB": () => ({ text: padded(mebibyte), servers: ["a"] }),
  "more than 1 MB": () => ({ text: padded(mebibyte + 1), servers: undefined }),
  "10 MB": () => ({ text: padded(10 * mebibyte), servers: undefined }),
  "1 MB in one string": () => ({
    text: wrap(`"a": { "command": "node", "args": ["${"x".repeat(mebibyte - 100)}"] }`),
    servers: ["a"],
  }),
  "500 servers": () => {
    const names = Array.from({ length: 500 }, (_, index) => `s${index}`);
    return { text: wrap(names.map((it) => `"${it}": ${entry}`).join(",")), servers: names };
  },
  "deep brackets": () => ({ text: "[".repeat(100_000), servers: undefined }),
  "deep objects": () => ({
    text: wrap(`"a": ${'{ "env": '.repeat(5_000)}1${" }".repeat(5_000)}`),
    servers: undefined,
  }),
  "not UTF-8": () => ({ text: Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d]), servers: undefined }),
  UTF16: () => ({ text: Buffer.from(wrap(`"a": ${entry}`), "utf16le"), servers: undefined }),
  "NUL bytes": () => ({ text: "\0".repeat(1_000), servers: undefined }),
  empty: () => ({ text: "", servers: undefined }),
};

async function readOddFiles(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    files: 0,
    "untyped errors": 0,
    "read differently": 0,
    "wrong servers": 0,
    "refused without a reason": 0,
    processes: 0,
    "max ms": 0,
  };
  for (let round = 0; round < lab.count; round += 1)
    for (const make of Object.values(oddFiles)) {
      using project = new Project();
      const { text, servers } = make();
      project.writeText(text);
      figures.files += 1;
      const since = performance.now();
      const { processes } = await watchTraffic(async () => {
        try {
          const first = await readingOf(project, product);
          const second = await readingOf(project, product);
          if (!isDeepStrictEqual(first, second)) figures["read differently"] += 1;
          if (!isDeepStrictEqual(first.names, servers ?? [])) figures["wrong servers"] += 1;
          if (servers === undefined && first.errors === 0) figures["refused without a reason"] += 1;
        } catch (error) {
          if (!McpError.is(error)) figures["untyped errors"] += 1;
        }
      });
      figures.processes += processes;
      figures["max ms"] = Math.max(figures["max ms"], (performance.now() - since) / 2);
    }
  return figures;
}

async function readingOf(project: Project, product: Product) {
  await using host = await project.open(product);
  await host.session({ level: "yolo" }).ready();
  const servers = host.servers();
  return {
    names: servers.map(({ name }) => name),
    configs: servers.map(({ config }) => config),
    errors: host.configProblems.filter(({ severity }) => severity === "error").length,
    problems: host.configProblems,
  };
}

export const configRows: readonly Row[] = [
  {
    id: "I9",
    trigger: "repeated keys, BOM, __proto__, 10 MB, brackets, bytes that are no text",
    expected: "the same each time: refused with a reason, or kept as data",
    measured: `${Object.keys(oddFiles).length} files of a project, each read by two hosts; what they define and what is said about them`,
    criteria: [
      "untyped errors",
      "read differently",
      "wrong servers",
      "refused without a reason",
      "processes",
    ].map((figure) => ({ figure, atMost: 0 })),
    servers: {},
    // Reading ten megabytes of configuration takes this process for as long as it takes.
    isBusy: true,
    stallAllowance: {
      atMostMs: Number.POSITIVE_INFINITY,
      reason: "the attack writes files of ten megabytes in this process, without a pause",
    },
    counts: { short: 1, normal: 3, long: 20 },
    attack: readOddFiles,
  },
];
