import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  type ConfirmAnswer,
  createHost,
  type Human,
  type McpHost,
  type NativeTool,
} from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

const otherTool = { ...anyTool, name: "other" };

function native(name: string): NativeTool {
  return {
    name,
    description: name,
    inputSchema: { type: "object" },
    handler: (_, { context }) => {
      context.state.set("by", context.agent);
      return context.sessionId;
    },
  };
}

/** Steps of which the one of this rule says no. */
function failing(rule: string): unknown {
  return expect.arrayContaining([expect.objectContaining({ rule, passes: false })]);
}

describe("a child session", () => {
  it("C-22: may call what was named, as far as the parent may", async () => {
    await using context = await recordedHost({ tools: [anyTool, otherTool] });
    const capabilities = new CapabilitySet().grant("mcp:fake:any");
    const parent = context.host.session({ level: "yolo", capabilities });
    await parent.ready();
    const names = (attenuate: readonly string[]) =>
      parent
        .child({ attenuate })
        .tools()
        .map(({ originalName }) => originalName);
    expect(names(["mcp:fake:*"])).toEqual(["any"]);
    expect(names(["mcp:fake:other"])).toEqual([]);
    expect(await parent.child({ attenuate: [] }).call("mcp__fake__any")).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
  });

  it.each([[undefined], ["sandboxed"]] as const)(
    "C-22: of a parent of level %s has no access, whatever it is given",
    async (level) => {
      await using context = await recordedHost({ tools: [anyTool] });
      const child = context.host
        .session({ level })
        .child({ level: "yolo", attenuate: ["mcp:*:*"], agent: "admin" });
      expect(await child.call("mcp__fake__any")).toMatchObject({
        ok: false,
        error: { code: "denied" },
      });
      expect(context.host.server("fake").state).toBe("idle");
    },
  );

  it("C-49: does not see what its parent does not, under whatever name", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    await host.connect("files", { owner: "admin" });
    const parent = host.session({ agent: "main", level: "yolo" });
    const child = parent.child({ agent: "admin" });
    expect(child.tools()).toEqual([]);
    expect(child.why("files.add")).toMatchObject({ verdict: "denied" });
    expect(await child.call("mcp__files__add", { a: 1, b: 2 })).toMatchObject({
      ok: false,
      error: { code: "server_unknown" },
    });
  });

  it("C-22: is what the host explains under the child's name, and only under that", async () => {
    await using context = await recordedHost({ tools: [anyTool, otherTool] });
    const { host } = context;
    // Asked too early, nobody of that name has any right.
    expect(host.why("helper", "fake.any")).toMatchObject({ verdict: "denied" });
    const parent = host.session({ agent: "lead", level: "yolo" });
    await parent.ready();
    const helper = parent.child({ agent: "helper", attenuate: ["mcp:fake:any"] });
    const errand = parent.child({ attenuate: ["mcp:fake:any"] });
    const deeper = helper.child({ agent: "intern" });
    const refused = { verdict: "denied", steps: failing("capability") };
    expect(host.why("helper", "fake.any")).toMatchObject({ agent: "helper", verdict: "allowed" });
    expect(host.why("helper", "fake.other")).toMatchObject({ agent: "helper", ...refused });
    expect(host.why("helper", "mcp__fake__other")).toEqual(helper.why("fake.other"));
    expect(host.why("intern", "fake.other")).toMatchObject({ agent: "intern", ...refused });
    expect(host.why("intern", "fake.other")).toEqual(deeper.why("fake.other"));
    // A child without a name of its own does not speak for its parent.
    expect(errand.why("fake.other")).toMatchObject(refused);
    expect(host.why("lead", "fake.other")).toMatchObject({ agent: "lead", verdict: "allowed" });
    // The last one of a name counts, also when it is no child.
    const promoted = host.session({ agent: "helper", level: "yolo" });
    expect(host.why("helper", "fake.other")).toEqual(promoted.why("fake.other"));
    expect(promoted.why("fake.other").verdict).toBe("allowed");
  });

  it("asks for itself: what a person allowed the parent does not serve the child", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    let asked = 0;
    const human: Human = {
      confirm: () => {
        asked += 1;
        return Promise.resolve("tool-session");
      },
    };
    const parent = context.host.session({ level: "trusted", human });
    await parent.call("mcp__fake__any");
    await parent.call("mcp__fake__any");
    const child = parent.child();
    await child.call("mcp__fake__any");
    await child.call("mcp__fake__any");
    expect(asked).toBe(2);
  });

  it.each([
    [
      "a stored grant",
      (host: McpHost) => host.grants.allow({ agent: "admin", server: "fake", tool: "any" }),
    ],
    [
      "a mode that asks nothing",
      (host: McpHost) => host.connect("fake", { owner: "admin", shared: true, mode: "allow-all" }),
    ],
  ])("C-22: %s of the agent it is named after does not serve it", async (_, allow) => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { host } = context;
    await allow(host);
    const answers: ConfirmAnswer[] = ["no", "no", "tool-session"];
    const human: Human = { confirm: async () => answers.shift() ?? "no" };
    const denied = { ok: false, error: { code: "consent_denied" } };
    const parent = host.session({ agent: "main", level: "trusted", human });
    expect(await parent.call("mcp__fake__any")).toMatchObject(denied);
    const child = parent.child({ agent: "admin" });
    expect(await child.call("mcp__fake__any")).toMatchObject(denied);
    expect(context.calls).toEqual([]);
    // Named so by the program itself, the agent has what it was given.
    const admin = host.session({ agent: "admin", level: "trusted" });
    expect(await admin.call("mcp__fake__any")).toMatchObject({ ok: true });
    // What a person allows the child itself is the child's.
    expect(await child.call("mcp__fake__any")).toMatchObject({ ok: true });
    expect(await child.call("mcp__fake__any")).toMatchObject({ ok: true });
    expect(answers).toEqual([]);
    const grandchild = child.child({ agent: "admin" });
    expect(await grandchild.call("mcp__fake__any")).toMatchObject({ ok: true });
  });

  it("C-22: has its agent's grants from the moment its parent has consent, and until it has not", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { host } = context;
    await host.grants.allow({ agent: "helper", server: "fake" });
    const parent = host.session({ agent: "main", level: "trusted" });
    const child = parent.child({ agent: "helper" });
    const code = async () => {
      const outcome = await child.call("mcp__fake__any");
      return outcome.ok ? "ok" : outcome.error.code;
    };
    expect(await code()).toBe("consent_denied");
    await host.grants.allow({ agent: "main", server: "fake" });
    expect(await code()).toBe("ok");
    await host.grants.revoke({ agent: "main", server: "fake" });
    expect(await code()).toBe("consent_denied");
    expect(child.why("fake.any").verdict).toBe("ask");
  });

  it("has a state and events of its own, and native tools only by name", async () => {
    await using context = await recordedHost({ tools: [] });
    const parent = context.host.session({ agent: "main", level: "yolo" });
    parent.defineTool(native("shared"));
    parent.defineTool(native("private"));
    const child = parent.child({ agent: "helper", tools: ["shared"] });
    expect(child.tools().map(({ name }) => name)).toEqual(["shared"]);
    const seen: string[] = [];
    parent.on("tool-invoked", () => seen.push("parent"));
    child.on("tool-invoked", () => seen.push("child"));
    const outcome = await child.call("shared");
    expect(outcome.ok).toBe(true);
    expect(child.state.snapshot()).toEqual({ by: "helper" });
    expect(parent.state.snapshot()).toEqual({});
    expect(seen).toEqual(["child"]);
    expect(() => parent.child({ tools: ["nobody"] })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});
