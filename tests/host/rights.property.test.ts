import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  type ConfirmAnswer,
  createHost,
  type McpHost,
  type PermissionLevel,
} from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";

/**
 * A second opinion on who may call what, written as plainly as the rules read: it keeps track of every
 * yes a person gave and of the definition it was given for. Whatever the host lets through, this model
 * must have a reason for.
 */
type Action =
  | {
      readonly do: "call";
      readonly agent: number;
      readonly tool: number;
      readonly answer: ConfirmAnswer;
    }
  | { readonly do: "grant"; readonly agent: number; readonly tool: number }
  | { readonly do: "revoke"; readonly agent: number }
  | { readonly do: "change"; readonly tool: number; readonly version: number }
  | { readonly do: "accept"; readonly tool: number }
  | { readonly do: "reconnect" | "disconnect" };

const toolNames = ["read", "write", "destroy"] as const;
const answers: readonly ConfirmAnswer[] = [
  "no",
  "once",
  "tool-session",
  "server-session",
  "tool-always",
  "server-always",
];
interface Agent {
  readonly level: PermissionLevel | undefined;
  readonly capabilities: readonly string[] | undefined;
}

const tool = fc.integer({ min: 0, max: toolNames.length - 1 });
const agent = fc.integer({ min: 0, max: 1 });
const call = fc.record({
  do: fc.constant("call" as const),
  agent,
  tool,
  answer: fc.constantFrom(...answers),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  // A call tells what the other actions did: most of them are calls.
  { weight: 12, arbitrary: call },
  fc.record({ do: fc.constant("grant" as const), agent, tool }),
  fc.record({ do: fc.constant("revoke" as const), agent }),
  fc.record({
    do: fc.constant("change" as const),
    tool,
    version: fc.integer({ min: 1, max: 3 }),
  }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant("accept" as const), tool }) },
  fc.record({ do: fc.constantFrom("reconnect" as const, "disconnect" as const) }),
);
const rights: fc.Arbitrary<Agent> = fc.record({
  // An agent of any other level is never asked, so nothing can be remembered wrongly for it.
  level: fc.oneof(
    { weight: 5, arbitrary: fc.constant("trusted" as const) },
    fc.constantFrom("yolo" as const, "sandboxed" as const, undefined),
  ),
  capabilities: fc.option(
    fc.array(fc.constantFrom("mcp:s:read", "mcp:s:*", "mcp:other:*"), { maxLength: 2 }),
    { nil: undefined, freq: 2 },
  ),
});

/** What the rules allow, remembered yes by yes. */
class Model {
  /** The definition each tool has now, was pinned with, and shows since the last listing. */
  readonly version = new Map<string, number>(toolNames.map((name) => [name, 1]));
  readonly pinned = new Map<string, number>(toolNames.map((name) => [name, 1]));
  /** `agent/tool/version` that a person allowed, for the session and for good. */
  readonly session = new Set<string>();
  readonly always = new Set<string>();

  mayEver({ level, capabilities }: Agent, name: string): boolean {
    const isLevelFine = level === "yolo" || level === "trusted";
    if (!isLevelFine && !(level === undefined && capabilities !== undefined)) return false;
    if (capabilities !== undefined && !capabilities.includes("mcp:s:*"))
      if (!capabilities.includes(`mcp:s:${name}`)) return false;
    return this.isOffered(name);
  }

  isOffered(name: string): boolean {
    return this.version.get(name) === this.pinned.get(name);
  }

  isCovered(index: number, { level }: Agent, name: string): boolean {
    const key = this.key(index, name);
    // Without a level it is the set that lets it through, as the program's own consent.
    if (level === "yolo" || level === undefined || this.always.has(key)) return true;
    return name !== "destroy" && this.session.has(key);
  }

  answered(index: number, name: string, answer: ConfirmAnswer): void {
    if (name === "destroy" || answer === "no" || answer === "once") return;
    const names = answer.startsWith("server")
      ? toolNames.filter((one) => this.isOffered(one))
      : [name];
    for (const one of names) {
      this.session.add(this.key(index, one));
      if (answer.endsWith("always") && one !== "destroy") this.always.add(this.key(index, one));
    }
  }

  key(index: number, name: string): string {
    return `${index}/${name}/${this.version.get(name)}`;
  }
}

function openHost(model: Model): Promise<McpHost> {
  const transport = () =>
    createMemoryServer(
      createRecordedServer({
        tools: toolNames.map((name) => ({
          name,
          description: `version ${model.version.get(name)}`,
          inputSchema: { type: "object" },
          annotations: { destructiveHint: name === "destroy" },
        })),
        answers: () => ({ content: [] }),
      }),
    ).transport;
  return createHost({ config: false, servers: { s: transport } });
}

describe("rights", () => {
  it("C-21, PRM-20, PRM-21: no sequence of answers, grants, changes and reconnects lets through what no rule allows", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(rights, rights),
        // Of every length up to the longest; otherwise most would have five.
        fc.array(action, { maxLength: 40, size: "max" }),
        async (agents, actions) => {
          const model = new Model();
          await using host = await openHost(model);
          await host.connect("s");
          const questions: number[] = [];
          let answer: ConfirmAnswer = "no";
          const sessions = agents.map(({ level, capabilities }, index) =>
            host.session({
              agent: String(index),
              level,
              capabilities:
                capabilities &&
                new CapabilitySet(
                  capabilities.map((resource) => ({ resource, action: "execute" })),
                ),
              human: {
                confirm: () => {
                  questions.push(index);
                  return Promise.resolve(answer);
                },
              },
            }),
          );
          for (const step of actions) {
            switch (step.do) {
              case "call": {
                const name = toolNames[step.tool] as string;
                const who = agents[step.agent] as Agent;
                const mayEver = model.mayEver(who, name);
                const isCovered = model.isCovered(step.agent, who, name);
                const before = questions.length;
                answer = step.answer;
                const outcome = await sessions[step.agent]!.call(`mcp__s__${name}`, {});
                const asked = questions.length - before;
                expect(asked).toBe(mayEver && !isCovered ? 1 : 0);
                expect(outcome.ok).toBe(mayEver && (isCovered || answer !== "no"));
                if (asked === 1) model.answered(step.agent, name, answer);
                break;
              }
              case "grant": {
                const name = toolNames[step.tool] as string;
                const granting = host.grants.allow({
                  agent: String(step.agent),
                  server: "s",
                  tool: name,
                });
                // What is set aside cannot be allowed before it is accepted.
                if (model.isOffered(name)) {
                  await granting;
                  model.always.add(model.key(step.agent, name));
                } else await expect(granting).rejects.toMatchObject({ code: "definition_changed" });
                break;
              }
              case "revoke":
                await host.grants.revoke({ agent: String(step.agent) });
                for (const kept of [model.always, model.session])
                  for (const key of kept) if (key.startsWith(`${step.agent}/`)) kept.delete(key);
                break;
              case "change":
                model.version.set(toolNames[step.tool] as string, step.version);
                await host.reconnect("s");
                break;
              case "accept": {
                const name = toolNames[step.tool] as string;
                const waiting = (await host.pins.list("s")).find(({ tool: it }) => it === name);
                if (waiting?.fingerprint === undefined) break;
                await host.pins.accept("s", name, waiting.fingerprint);
                model.pinned.set(name, model.version.get(name) as number);
                break;
              }
              case "reconnect":
                await host.reconnect("s");
                break;
              case "disconnect":
                await host.disconnect("s");
                await host.connect("s");
                model.session.clear();
                break;
            }
          }
        },
      ),
      // Measured with `server-always` made to cover destructive tools: twelve of twelve seeds fail within 23.
      { numRuns: 80 },
    );
  });
});
