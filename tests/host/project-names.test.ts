import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { HostEventOf, McpHost, Session } from "../../src/index.ts";
import { makeProject, type Project } from "./project.ts";

const server = path.resolve("tests/fixtures/servers/labelled-server.mjs");

/** A server that says whose it is. */
function of(label: string, tools: readonly string[] = ["create_issue"]) {
  return { command: process.execPath, args: [server, label, ...tools] };
}

async function writeForUser({ home }: Project, servers: object): Promise<void> {
  await mkdir(path.join(home, ".plugboard"), { recursive: true });
  await writeFile(path.join(home, ".plugboard", "mcp.json"), JSON.stringify({ servers }));
}

async function reached(session: Session, name: string): Promise<string> {
  const outcome = await session.call(name, {});
  return outcome.ok ? outcome.text : outcome.error.code;
}

const yolo = (host: McpHost): Session => host.session({ level: "yolo" });
const namesOf = (session: Session): readonly string[] => session.tools().map(({ name }) => name);

describe("names of a project's tools", () => {
  it.each([
    ["naming", "prefix_tool"],
    ["toolPrefix", "github"],
    ["enabledTools", ["create_issue"]],
    ["disabledTools", ["send"]],
  ])("PRM-21, L3: another %s is not what was approved, and is shown", async (key, value) => {
    await using project = await makeProject();
    const entry = of("project", ["create_issue", "send"]);
    await project.write(entry);
    await using host = await project.host();
    await host.approve("project");
    const before = namesOf(yolo(host));
    await project.write({ ...entry, [key]: value });
    await host.reload();
    expect(host.server("project")).toMatchObject({ state: "pending", changedSinceApproval: true });
    const question = await host.approvalQuestion("project");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    expect(question?.details).toContainEqual({ name: key, value: text });
    expect(question?.difference?.changes).toEqual([{ name: key, is: text }]);
    expect(await reached(yolo(host), "mcp__project__send")).toBe("not_approved");
    await project.write(entry);
    await host.reload();
    expect(namesOf(yolo(host))).toEqual(before);
    expect(await reached(yolo(host), "mcp__project__send")).toBe("project");
  });

  it("PRM-21: what was granted of a server holds when only its names are others", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    await host.add("mine", of("mine"));
    await host.grants.allow({ agent: "main", server: "mine", tool: "create_issue" });
    await host.update("mine", { ...of("mine"), naming: "prefix_tool", toolPrefix: "other" });
    expect(host.grants.list({ server: "mine" })).toHaveLength(1);
    const session = host.session({ level: "trusted" });
    expect(await reached(session, "other_create_issue")).toBe("mine");
  });

  it("NAM-13, L3: a pending entry with another's prefix takes and changes no name", async () => {
    await using project = await makeProject();
    const user = { ...of("user"), naming: "prefix_tool" };
    await writeForUser(project, { github: user });
    const entry = { ...of("project"), naming: "prefix_tool", toolPrefix: "github" };
    await project.write(entry);
    {
      // So that a host that comes later knows what the entry would list.
      await using first = await project.host();
      await first.approve("project");
      await first.connect("project");
      await first.revokeApproval("project");
    }
    await using host = await project.host();
    const states = host.servers().map(({ name, state }) => `${name} ${state}`);
    expect(states).toEqual(["project pending", "github idle"]);
    expect(host.configProblems).toEqual([]);
    expect(await reached(yolo(host), "github_create_issue")).toBe("user");
    expect(namesOf(yolo(host))).toEqual(["github_create_issue"]);
    expect(await reached(yolo(host), "github_other")).toBe("tool_unknown");
  });

  it("NAM-13, L3: an approved one has a name of its own, and the user's server keeps its", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: { ...of("user"), naming: "prefix_tool" } });
    await project.write({ ...of("project"), naming: "prefix_tool", toolPrefix: "github" });
    await using host = await project.host();
    const warnings: string[] = [];
    host.on("warning", ({ text }) => void warnings.push(text));
    await host.approve("project");
    await host.connect("project");
    const session = yolo(host);
    // Also before it is known what the user's server offers.
    expect(namesOf(session)).not.toContain("github_create_issue");
    expect(await reached(session, "github_create_issue")).toBe("user");
    const [other = "", ...rest] = namesOf(session).filter((name) => name !== "github_create_issue");
    expect(rest).toEqual([]);
    expect(other).toMatch(/^github_create_issue_[0-9a-z]+$/);
    expect(await reached(session, "github_create_issue")).toBe("user");
    expect(await reached(session, other)).toBe("project");
    expect(warnings).toEqual([
      'tools of "project" would be named like those of another server, such as github_create_issue; a hash was added to each name',
    ]);
  });
});

describe("a project's entry with the name of a user's server", () => {
  it("CFG-12, L3: replaces it when it is approved, and only as long as it is", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: of("user") });
    await project.write(of("project"), "github");
    await using host = await project.host();
    const userFile = path.join(project.home, ".plugboard", "mcp.json");
    const projectFile = path.join(project.cwd, ".plugboard", "mcp.json");
    const listed = () =>
      host.servers().map(({ name, state, provenance }) => [name, state, provenance.layer]);
    expect(listed()).toEqual([
      ["github", "idle", "user"],
      ["github", "pending", "project"],
    ]);
    expect(host.servers()[1]).toMatchObject({
      shadows: [{ path: userFile }],
      waitsToReplace: { path: userFile },
      toolCount: undefined,
    });
    const session = yolo(host);
    expect(await reached(session, "mcp__github__create_issue")).toBe("user");
    expect(await host.connect("github")).toMatchObject({ state: "connected" });
    await host.grants.allow({ agent: "main", server: "github", tool: "create_issue" });
    const question = await host.approvalQuestion("github");
    expect(question).toMatchObject({
      origin: { layer: "project", path: projectFile },
      replaces: { origin: { layer: "user", path: userFile }, target: expect.any(String) },
    });
    const changes: HostEventOf<"servers-changed">[] = [];
    host.on("servers-changed", (event) => void changes.push(event));
    await host.approve("github", { launchId: question?.launchId });
    expect(listed()).toEqual([["github", "idle", "project"]]);
    expect(changes).toMatchObject([{ added: [], removed: [], changed: ["github"] }]);
    expect(host.server("github").shadows).toMatchObject([{ path: userFile }]);
    expect(host.grants.list({ server: "github" })).toEqual([]);
    expect(await reached(session, "mcp__github__create_issue")).toBe("project");
    await host.reload();
    expect(listed()).toEqual([["github", "connected", "project"]]);
    {
      await using later = await project.host();
      expect(await reached(yolo(later), "mcp__github__create_issue")).toBe("project");
    }
    await host.revokeApproval("github");
    expect(listed()).toEqual([
      ["github", "idle", "user"],
      ["github", "pending", "project"],
    ]);
    expect(await reached(session, "mcp__github__create_issue")).toBe("user");
    expect(host.grants.list({ server: "github" })).toHaveLength(1);
  });

  it("CFG-12, L3: changed after its approval, it leaves the name to the user's again", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: of("user") });
    await project.write(of("project"), "github");
    await using host = await project.host();
    await host.approve("github");
    await host.connect("github");
    await project.write(of("changed"), "github");
    await host.reload();
    expect(await reached(yolo(host), "mcp__github__create_issue")).toBe("user");
    expect((await host.approvalQuestion("github"))?.difference?.changes).toMatchObject([
      { name: "arguments" },
    ]);
  });

  it("CFG-12: what is approved in another host replaces it here with the next look", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: of("user") });
    await project.write(of("project"), "github");
    await using host = await project.host();
    await using other = await project.host();
    await other.approve("github");
    await host.reload();
    expect(await reached(yolo(host), "mcp__github__create_issue")).toBe("project");
    await other.revokeApproval("github");
    await host.reload();
    expect(await reached(yolo(host), "mcp__github__create_issue")).toBe("user");
  });

  it("CFG-12: switches it off without approval", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: of("user") });
    await project.write({ enabled: false }, "github");
    await using host = await project.host();
    expect(host.servers().map(({ state }) => state)).toEqual(["disabled"]);
    expect(await reached(yolo(host), "mcp__github__create_issue")).toBe("server_disabled");
  });

  it("REG-02: who sees the server is the same for either entry", async () => {
    await using project = await makeProject();
    await writeForUser(project, { github: of("user") });
    await project.write(of("project"), "github");
    await using host = await project.host();
    await host.connect("github", { owner: "a" });
    await host.approve("github");
    const [a, b] = ["a", "b"].map((agent) => host.session({ agent, level: "yolo" }));
    expect([a?.servers(), b?.servers()]).toEqual([["github"], []]);
    await host.revokeApproval("github");
    expect([a?.servers(), b?.servers()]).toEqual([["github"], []]);
  });
});
