import { describe, expect, it } from "vitest";

import { canUseMcp, requiresMcpConfirmation } from "../../src/entries/permissions.ts";
import { createHost, type HostEvent, type PermissionLevel, type Session } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  testServerEntry,
} from "../../src/testing/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { makeProject } from "./project.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

const publicName = "mcp__fake__any";

function names(session: Session): readonly string[] {
  return session.tools().map(({ name }) => name);
}

describe("what a person allowed in one session", () => {
  it.each(["server-session", "tool-session"] as const)(
    "PRM-10: (%s) serves neither a later session of the same agent nor one of another agent",
    async (answer) => {
      await using context = await recordedHost({ tools: [anyTool] });
      const { host } = context;
      const { human, questions } = scriptedHuman(answer, "no", "no");
      const allowed = host.session({ agent: "a", level: "trusted", human });
      expect(await allowed.call(publicName, {})).toMatchObject({ ok: true });
      for (const agent of ["a", "b"]) {
        const session = host.session({ agent, level: "trusted", human });
        expect(session.find(publicName)).toMatchObject({ needsConsent: true });
        expect(await session.call(publicName, {})).toMatchObject({
          error: { code: "consent_denied" },
        });
      }
      // What others were refused changes nothing for the one who was allowed.
      expect(await allowed.call(publicName, {})).toMatchObject({ ok: true });
      expect(questions.map(({ agent }) => agent)).toEqual(["a", "a", "b"]);
      expect(context.calls).toHaveLength(2);
    },
  );

  it("PRM-10: is asked about again after the host was started anew", async () => {
    await using project = await makeProject();
    const { human, questions } = scriptedHuman("server-session", "no");
    const outcomes: boolean[] = [];
    for (let start = 0; start < 2; start += 1) {
      await using host = await project.host({ servers: { fake: testServerEntry() } });
      const session = host.session({ agent: "a", level: "trusted", human });
      outcomes.push((await session.call("mcp__fake__get_time", {})).ok);
    }
    expect([outcomes, questions.length]).toEqual([[true, false], 2]);
  });
});

describe("a server that waits for consent", () => {
  async function twoServers() {
    const entry = () => createMemoryServer(createRecordedServer({ tools: [anyTool] })).transport;
    const host = await createHost({ config: false, servers: { asked: entry, free: entry } });
    await host.connect("asked");
    await host.connect("free", { mode: "allow-all" });
    return host;
  }

  it("PRM-11: has no tools in a session that omits them, until it is allowed", async () => {
    await using host = await twoServers();
    const { human } = scriptedHuman("server-session");
    const session = host.session({ level: "trusted", human, pending: "omit" });
    expect(names(session)).toEqual(["mcp__free__any"]);
    expect(session.find("mcp__asked__any")).toBeUndefined();
    expect(session.servers()).toEqual(["asked", "free"]);
    await using section = await session.section().open();
    expect(section.tools().map(({ serverName }) => serverName)).toEqual(["free"]);
    // Who knows the name may still ask for it, and the answer opens the list.
    expect(await session.call("mcp__asked__any", {})).toMatchObject({ ok: true });
    expect(names(session)).toEqual(["mcp__asked__any", "mcp__free__any"]);
  });

  it("PRM-11: has no tools where nobody can be asked", async () => {
    await using host = await twoServers();
    const headless = host.session({ level: "trusted" });
    expect(names(headless)).toEqual(["mcp__free__any"]);
    const { human } = scriptedHuman();
    // Somebody who fills in forms but confirms nothing is nobody to ask.
    const mute = host.session({ level: "trusted", human: { notify: () => {} } });
    expect(names(mute)).toEqual(["mcp__free__any"]);
    const attended = host.session({ level: "trusted", human });
    expect(attended.tools().map(({ name, needsConsent }) => [name, needsConsent])).toEqual([
      ["mcp__asked__any", true],
      ["mcp__free__any", false],
    ]);
  });
});

describe("the way to a yes", () => {
  it.each([
    ["sandboxed", { asked: [], codes: ["denied", "denied"] }],
    ["trusted", { asked: ["any"], codes: ["ok", "ok"] }],
    ["yolo", { asked: [], codes: ["ok", "ok"] }],
  ] as const)(
    "SES-11: a %s session looks at its level, then at what was allowed, then asks and remembers",
    async (level: PermissionLevel, expected) => {
      await using context = await recordedHost({ tools: [anyTool] });
      const { human, questions } = scriptedHuman("server-session");
      const session = context.host.session({ level, human });
      const events: HostEvent["type"][] = [];
      session.on("*", ({ type }) => events.push(type));
      const codes: string[] = [];
      for (let call = 0; call < 2; call += 1) {
        const outcome = await session.call(publicName, {});
        codes.push(outcome.ok ? "ok" : outcome.error.code);
      }
      const asked = questions.map(({ toolName }) => toolName);
      expect({ asked, codes }).toEqual(expected);
      expect(events.filter((type) => type === "consent-granted")).toHaveLength(asked.length);
      // The decisions that a program can make by itself are the same.
      const isAskedFirst = canUseMcp({ level }) && requiresMcpConfirmation({ level }, "fake");
      expect(isAskedFirst).toBe(asked.length > 0);
    },
  );
});
