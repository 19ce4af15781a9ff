import fc from "fast-check";
import { expect, it } from "vitest";

import { scriptedConnection } from "../../../tests/fixtures/connection/scripted-connection.ts";
import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { ApprovedLaunches } from "../../approval/approved-launches.ts";
import { entryIdOf, launchFacts } from "../../approval/launch-facts.ts";
import type { CallTarget } from "../../call/call-contract.ts";
import type { CatalogTool } from "../../catalog/catalog-tool.ts";
import { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { EventBus } from "../../events/event-bus.ts";
import { ToolGrants } from "../../grants/tool-grants.ts";
import { ToolPins } from "../../pins/tool-pins.ts";
import { AccessRevision } from "../../policy/access-revision.ts";
import { CapabilitySet } from "../../policy/capability-set.ts";
import { silentLogger } from "../../ports/logger.ts";
import { ServerRegistry } from "../../registry/server-registry.ts";
import { HostStore } from "../../store/host-store.ts";
import {
  type AgentRights,
  type ConsentScope,
  type ServerJudgement,
  ToolJudge,
} from "./tool-judge.ts";

/** Two entries that start the same and so share pins and grants, one of a project, and one alone. */
const serverNames = ["same-one", "same-two", "project", "alone"] as const;
type ServerName = (typeof serverNames)[number];
const toolNames = ["read", "write"] as const;

function configOf(name: ServerName, { line = 1, isEnabled = true } = {}) {
  const command = name.startsWith("same") ? "same" : name;
  const layer = name === "project" ? "project" : "user";
  const provenance = { layer, path: "/etc/mcp.json", line } as const;
  return parseServerEntry(name, { command, enabled: isEnabled }, { provenance });
}

/** Everything that a judgement stands on, and the judges of two agents and of a child of the first. */
function createWorld() {
  const clock = new ManualClock();
  const revision = new AccessRevision();
  const events = new EventBus();
  const machine = { file: "/bin/one" };
  const launches = new ApprovedLaunches(
    () => ({ commandPath: machine.file, folder: "/work" }),
    revision,
  );
  const registry = new ServerRegistry({
    revision,
    launches,
    createConnection: () => scriptedConnection().connection,
  });
  const catalog = new ToolCatalog();
  const store = new HostStore({ location: undefined, clock, logger: silentLogger });
  const pins = new ToolPins({ store, registry, revision, events, clock });
  const grants = new ToolGrants({ store, registry, catalog, pins, revision, events, clock });
  const parts = { registry, catalog, grants, pins, revision, clock };
  const rights = (agent: string, capabilities?: CapabilitySet): AgentRights => ({
    agent,
    level: "trusted",
    capabilities,
  });
  const some = new CapabilitySet([
    { resource: "mcp:*:read", action: "execute" },
    { resource: "mcp:alone:*", action: "execute", expiresAt: 500 },
  ]);
  const first = rights("first");
  const second = rights("second", some);
  const judges = [new ToolJudge(first, parts), new ToolJudge(second, parts)];
  judges.push(new ToolJudge({ ...second, parent: judges[0] }, parts));
  /** What people allowed in each session, in order. */
  const answers: { judge: number; kind: "allowTool" | "allowServer"; scope: ConsentScope }[] = [];
  /** Judges that remember no judgement, with the same answers; their answers are not noted as changes. */
  const freshJudges = (): readonly ToolJudge[] => {
    const others = { ...parts, revision: new AccessRevision() };
    const fresh = [new ToolJudge(first, others), new ToolJudge(second, others)];
    fresh.push(new ToolJudge({ ...second, parent: fresh[0] }, others));
    for (const { judge, kind, scope } of answers) fresh[judge]?.[kind](scope);
    return fresh;
  };
  const drops: (() => Promise<void>)[] = [];
  return { ...parts, launches, machine, judges, answers, drops, freshJudges };
}

type World = ReturnType<typeof createWorld>;

function arrange({ registry, catalog }: World, changes: ReturnType<ServerRegistry["apply"]>): void {
  const fresh = new Set([...changes.added, ...changes.changed]);
  const configs = registry.all().map(({ config }) => config);
  const kept = configs.map(({ name }) => name).filter((name) => !fresh.has(name));
  catalog.arrange(configs, new Set(kept));
}

async function list(world: World, name: ServerName, texts: readonly string[]): Promise<void> {
  const server = world.registry.find(name);
  if (server === undefined) return;
  const tools = toolNames.map((tool, index) => ({ name: tool, description: texts[index] ?? "" }));
  await world.pins.review(server, tools);
  world.catalog.replace(name, { tools, rejected: [] });
}

const server = fc.constantFrom(...serverNames);
const agent = fc.constantFrom("first", "second");
const judge = fc.nat({ max: 2 });
const tool = fc.constantFrom(...toolNames);
const texts = fc.tuple(fc.constantFrom("one", "two"), fc.constantFrom("one", "two"));
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("apply" as const),
      entries: fc.subarray(
        serverNames.flatMap((name) => [
          { name, isEnabled: true },
          { name, isEnabled: false },
        ]),
      ),
      line: fc.nat({ max: 1 }),
    }),
    fc.record({ do: fc.constant("list" as const), server, texts }),
    fc.record({ do: fc.constant("accept" as const), server, tool }),
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom(
          "approve",
          "unapprove",
          "unapproveAll",
          "forget",
          "wait",
          "load",
          "drop",
        ),
      }),
    },
    fc.record({
      do: fc.constant("exchange" as const),
      file: fc.constantFrom("/bin/one", "/bin/two"),
    }),
    fc.record({ do: fc.constant("allow" as const), agent, server, expires: fc.boolean() }),
    fc.record({ do: fc.constant("revoke" as const), agent, server: fc.option(server) }),
    fc.record({
      do: fc.constant("answer" as const),
      judge,
      server,
      tool,
      kind: fc.constantFrom("allowTool" as const, "allowServer" as const),
    }),
    fc.record({ do: fc.constant("claim" as const), agent, server, isShared: fc.boolean() }),
    fc.record({ do: fc.constant("release" as const), server }),
    fc.record({ do: fc.constant("mode" as const), agent, server }),
    fc.record({ do: fc.constant("add" as const), server }),
  ),
  { maxLength: 25, size: "max" },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

async function take(world: World, step: Step): Promise<void> {
  const { registry, catalog, grants, pins, launches, machine, judges, answers, clock } = world;
  const project = configOf("project");
  const described = { config: project, entryId: entryIdOf(launchFacts(project)) };
  switch (step.do) {
    case "apply": {
      const { line } = step;
      const configs = step.entries.map(({ name, isEnabled }) =>
        configOf(name, { line, isEnabled }),
      );
      arrange(world, registry.apply(configs));
      break;
    }
    case "list":
      await list(world, step.server, step.texts);
      break;
    case "accept": {
      if (registry.find(step.server) === undefined) break;
      const waiting = (await pins.list(step.server)).find((one) => one.tool === step.tool);
      await pins.accept(step.server, step.tool, waiting?.fingerprint ?? "");
      break;
    }
    case "approve":
      launches.add(launches.lookUp(project));
      break;
    case "unapprove":
      launches.delete(launches.lookUp(project).launchId);
      break;
    case "exchange": {
      machine.file = step.file;
      launches.lookUp(project);
      break;
    }
    case "forget": {
      machine.file = machine.file === "/bin/one" ? "/bin/two" : "/bin/one";
      launches.forgetLook(described);
      break;
    }
    case "unapproveAll":
      launches.deleteAll(described);
      break;
    case "add":
      if (registry.find(step.server) !== undefined) break;
      registry.add(configOf(step.server));
      catalog.declare(configOf(step.server));
      break;
    case "drop":
      await world.drops.pop()?.();
      break;
    case "allow": {
      // A server that was not listed would be started for it.
      if (!catalog.isKnown(step.server)) break;
      const expiresAt = step.expires ? clock.now() + 150 : undefined;
      const allowing = grants.allow({ agent: step.agent, server: step.server, expiresAt });
      await allowing.catch(() => undefined);
      break;
    }
    case "revoke":
      await grants.revoke({ agent: step.agent, server: step.server ?? undefined });
      break;
    case "answer": {
      const found = catalog.tools(step.server).find((one) => one.originalName === step.tool);
      const scope = found && judges[step.judge]?.scopeOf(found);
      if (scope === undefined) break;
      judges[step.judge]?.[step.kind](scope);
      answers.push({ judge: step.judge, kind: step.kind, scope });
      break;
    }
    case "claim": {
      const found = registry.find(step.server);
      if (found === undefined) break;
      const { drop } = registry.claim(found, { owner: step.agent, isShared: step.isShared });
      world.drops.push(drop);
      break;
    }
    case "release": {
      const found = registry.find(step.server);
      if (found !== undefined) await registry.release(found);
      break;
    }
    case "mode": {
      const found = registry.find(step.server);
      if (found !== undefined) registry.setConsentMode(found, "allow-all", step.agent);
      break;
    }
    case "wait":
      await clock.advance(100);
      break;
    case "load":
      await pins.load();
      break;
  }
}

it("PRM-20, PRM-21: no sequence of changes leaves a judgement in force that would not be passed now", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const world = createWorld();
      arrange(world, world.registry.apply(serverNames.map((name) => configOf(name))));
      for (const name of serverNames) await list(world, name, ["one", "one"]);
      const held = new Map<string, ServerJudgement>();
      // Somebody may still hold a tool that its server no longer lists.
      const seen = new Set<CatalogTool>();
      for (const step of [undefined, ...sequence]) {
        if (step !== undefined) await take(world, step);
        const fresh = world.freshJudges();
        for (const name of serverNames) for (const one of world.catalog.tools(name)) seen.add(one);
        for (const [index, own] of world.judges.entries()) {
          const other = fresh[index] as ToolJudge;
          const expected = (tools: Iterable<CatalogTool>) =>
            [...tools].map((one) => verdictOf(other.judge(one)));
          expect([...seen].map((one) => verdictOf(own.judge(one)))).toEqual(expected(seen));
          for (const name of serverNames) {
            const tools = world.catalog.tools(name);
            const key = `${index}/${name}`;
            let part = held.get(key);
            if (part === undefined || part.targets[0]?.tool !== tools[0] || !own.holds(part))
              part = own.judgeAll(name, tools);
            held.set(key, part);
            expect(part.targets.map(verdictOf)).toEqual(expected(tools));
          }
        }
      }
    }),
    { numRuns: 150 },
  );
});

/** The verdict as plain data: connections and entries are told apart by what they are, not by how they look. */
function verdictOf({ denial, consent, server: found, connection }: CallTarget) {
  return [denial?.rule, consent, idOf(found?.config), idOf(connection)];
}

const ids = new WeakMap<object, number>();
let lastId = 0;

function idOf(thing: object | undefined): number {
  if (thing === undefined) return 0;
  const id = ids.get(thing) ?? (lastId += 1);
  ids.set(thing, id);
  return id;
}
