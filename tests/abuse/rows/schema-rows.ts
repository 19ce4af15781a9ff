import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { createBareHost, type Product } from "../product.ts";
import { Trap } from "../project.ts";
import { calmCriteria, type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
/** Answers to a call that a schema stands in the way of. */
const schemaEnds = new Set(["invalid_arguments", "invalid_result", "schema_refused"]);

async function matchPatterns(lab: Lab): Promise<Figures> {
  const figures = { "passed as valid": 0, "other ends": 0, "slowest ms": 0 };
  const value = `${"a".repeat(40)}!`;
  for (let round = 0; round < lab.count; round += 1)
    for (let index = 0; index < 4; index += 1)
      for (const args of [{ value }, { n: 40 }]) {
        const { ok, code, tookMs } = await lab.call({ server, tool: `redos_${index}`, args });
        // The last of them no linear engine takes: that keyword is left to the server, and told.
        if (ok && index < 3) figures["passed as valid"] += 1;
        if (!ok && !schemaEnds.has(code)) figures["other ends"] += 1;
        figures["slowest ms"] = Math.max(figures["slowest ms"], tookMs);
      }
  return figures;
}

async function explodeSchemas(lab: Lab): Promise<Figures> {
  const figures = { "passed as valid": 0, "other ends": 0, "slowest ms": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const tool of ["bomb", "bomb_in_result"]) {
      const { ok, code, tookMs } = await lab.call({ server, tool, args: { value: round } });
      if (ok) figures["passed as valid"] += 1;
      else if (!schemaEnds.has(code)) figures["other ends"] += 1;
      figures["slowest ms"] = Math.max(figures["slowest ms"], tookMs);
    }
  return { ...figures, "dead afterwards": Number(!(await lab.isAlive(server))) };
}

const endless: Readonly<Record<string, readonly string[]>> = {
  deep: ["deep", "deep_result"],
  self: ["itself", "all_of_itself", "in_turn"],
};

async function descendSchemas(lab: Lab): Promise<Figures> {
  const figures = { "not refused": 0, "others lost": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const [name, tools] of Object.entries(endless)) {
      for (const tool of tools) {
        const { code } = await lab.call({ server: name, tool, args: { value: [] } });
        if (!schemaEnds.has(code)) figures["not refused"] += 1;
      }
      if (!(await lab.isAlive(name))) figures["others lost"] += 1;
    }
  // Beyond what JSON may be nested, nobody reads far enough to find the others.
  await lab.call({ server: "bottomless", args: {} });
  const isTold = lab.subject
    .texts("bottomless")
    .some((text) => text.includes("nested deeper than 200 levels"));
  return { ...figures, "not told": Number(!isTold) };
}

async function referElsewhere(lab: Lab, product: Product): Promise<Figures> {
  const figures = { "trap hits": 0, "calls without an answer": 0, tools: 0 };
  await using trap = await Trap.open();
  const entry = hostileEntry("remote-ref-schema", { url: trap.origin });
  for (let round = 0; round < lab.count; round += 1) {
    await using host = await createBareHost(product, { servers: { [server]: entry } });
    const session = host.session({ level: "yolo" });
    await session.ready();
    figures.tools = session.tools().length;
    for (const tool of session.tools()) {
      const outcome = await tool.execute({ a: 1 });
      if (!outcome.ok && outcome.error.code === "timeout") figures["calls without an answer"] += 1;
    }
    await host.emitTypes(server).catch(() => undefined);
    host.servers();
  }
  figures["trap hits"] = trap.seen.length;
  return figures;
}

/** Each of two tools of each of two servers takes what its own schema says. */
async function collideIds(lab: Lab): Promise<Figures> {
  let wrong = 0;
  for (let round = 0; round < lab.count; round += 1)
    for (const [name, first] of Object.entries({ one: "string", other: "number" }))
      for (const index of [0, 1])
        for (const value of ["text", 1]) {
          const type = index === 0 ? first : first === "string" ? "number" : "string";
          const { ok, code } = await lab.call({
            server: name,
            tool: `pick_${index}`,
            args: { value },
          });
          const isRight = typeof value === type ? ok : code === "invalid_arguments";
          if (!isRight) wrong += 1;
        }
  return { "wrong verdicts": wrong };
}

const lies: readonly unknown[] = [{ n: "1" }, {}, { n: null }, [], "n", undefined, { m: 1 }];

async function lieAboutResults(lab: Lab): Promise<Figures> {
  const figures = { "passed as valid": 0, "content lost": 0, "truth refused": 0 };
  for (let round = 0; round < lab.count; round += 1) {
    for (const structured of lies) {
      const { ok, code, text } = await lab.call({ server, tool: "lie", args: { structured } });
      if (ok || code !== "invalid_result") figures["passed as valid"] += 1;
      if (!text.includes("the answer")) figures["content lost"] += 1;
    }
    const { ok } = await lab.call({ server, tool: "lie", args: { structured: { n: 1 } } });
    if (!ok) figures["truth refused"] += 1;
  }
  return figures;
}

export const schemaRows: readonly Row[] = [
  {
    id: "D14",
    trigger: "redos-schema, 40 letters",
    expected: "validated in bounded time, or left to the server",
    measured:
      "four patterns that take a backtracking engine 2^40 steps, in arguments and in results; the time of each call, and for how long this process was busy",
    criteria: [...zero("passed as valid", "other ends"), ...calmCriteria],
    servers: { [server]: hostileEntry("redos-schema") },
    counts: { short: 1, normal: 5, long: 100 },
    attack: matchPatterns,
  },
  {
    id: "D15",
    trigger: "composition-bomb n=24",
    expected: "refused or stopped in bounded time",
    measured: "2^24 ways through a schema of a few kilobytes, for arguments and for a result",
    criteria: [...zero("passed as valid", "other ends", "dead afterwards"), ...calmCriteria],
    servers: { [server]: hostileEntry("composition-bomb", { n: 24 }) },
    counts: { short: 1, normal: 5, long: 50 },
    attack: explodeSchemas,
  },
  {
    id: "D16",
    trigger: "deep-schema, self-ref-schema",
    expected: "that tool refused, the others kept",
    measured:
      "150 levels of a schema, and schemas that are defined by themselves. A list with 100,000 levels is too deep to be read, and said to be",
    criteria: [...zero("not refused", "others lost", "not told"), ...calmCriteria],
    servers: {
      deep: hostileEntry("deep-schema"),
      self: hostileEntry("self-ref-schema"),
      bottomless: hostileEntry("deep-schema", { depth: 100_000 }),
    },
    counts: { short: 1, normal: 10, long: 100 },
    attack: descendSchemas,
  },
  {
    id: "D17",
    trigger: "remote-ref-schema",
    expected: "nothing is fetched",
    measured:
      "$ref, $schema, $id, $dynamicRef and icons that name an address nobody else knows; tools listed, called and turned into types",
    criteria: zero("trap hits", "calls without an answer"),
    servers: {},
    ownModes: ["remote-ref-schema"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: referElsewhere,
  },
  {
    id: "D18",
    trigger: "schema-id-collision on two servers",
    expected: "each call judged by its own schema",
    measured: "four schemas of one $id that ask for different types; every value for every tool",
    criteria: zero("wrong verdicts"),
    servers: {
      one: hostileEntry("schema-id-collision", { type: "string" }),
      other: hostileEntry("schema-id-collision", { type: "number" }),
    },
    counts: { short: 1, normal: 20, long: 200 },
    attack: collideIds,
  },
  {
    id: "D19",
    trigger: "output-schema-lie",
    expected: "invalid_result, with the content kept",
    measured: `${lies.length} results that are not what was promised, and one that is`,
    criteria: zero("passed as valid", "content lost", "truth refused"),
    servers: { [server]: hostileEntry("output-schema-lie") },
    counts: { short: 1, normal: 20, long: 200 },
    attack: lieAboutResults,
  },
];
