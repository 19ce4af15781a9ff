import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import { scriptedRegistry } from "../../tests/fixtures/connection/scripted-registry.ts";
import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { ToolCatalog } from "../catalog/tool-catalog.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { EventBus } from "../events/event-bus.ts";
import type { HostEvent } from "../events/host-event.ts";
import { fingerprintOf } from "../pins/tool-fingerprint.ts";
import { silentLogger } from "../ports/logger.ts";
import { HostStore } from "../store/host-store.ts";
import { ownCommand } from "../text/own-command.ts";
import { contentSubject, subjectOf } from "./consent-subject.ts";
import { publishConsentModes, ToolGrants } from "./tool-grants.ts";

const listed = (name: string, annotations: Readonly<Record<string, unknown>> = {}) => ({
  name,
  description: name,
  inputSchema: { type: "object" as const },
  annotations,
});
const tools = [listed("read"), listed("write"), listed("drop", { destructiveHint: true })];

interface GrantsOptions {
  readonly location?: string;
  readonly clock?: ManualClock;
  readonly connection?: ServerConnection;
  /** Tools that wait for a person. */
  readonly quarantined?: readonly string[];
}

/** Grants for the servers `files` and `logs`, which have the same tools, and for `held`, which nobody has approved. */
function createGrants({
  location,
  connection,
  clock = new ManualClock(),
  quarantined = [],
}: GrantsOptions = {}) {
  const { registry, revision } = scriptedRegistry(connection && (() => connection));
  const project = { provenance: { layer: "project" as const, path: "/project/.mcp.json" } };
  const configs = [
    parseServerEntry("files", { command: "files" }),
    parseServerEntry("logs", { command: "logs" }),
    parseServerEntry("held", { command: "held" }, project),
  ];
  registry.apply(configs);
  const catalog = new ToolCatalog();
  for (const config of configs) {
    catalog.declare(config);
    catalog.load(config.name, tools);
  }
  const store = new HostStore({ location, clock, logger: silentLogger });
  const events = new EventBus();
  const told: HostEvent[] = [];
  for (const type of ["grant-added", "grant-revoked"] as const)
    events.on(type, (event) => void told.push(event));
  const pins = {
    accepted: <Tool extends { readonly originalName: string }>(_: unknown, all: readonly Tool[]) =>
      all.filter(({ originalName }) => !quarantined.includes(originalName)),
  };
  const grants = new ToolGrants({ revision, store, registry, catalog, pins, events, clock });
  const subject = (tool: string, server = "files", agent = "a") => {
    const found = catalog.tools(server).find((it) => it.originalName === tool) as CatalogTool;
    const fingerprint = fingerprintOf(found.listed);
    return { agent, consentId: registry.get(server).consentId, toolName: tool, fingerprint };
  };
  return { grants, registry, revision, catalog, store, events, told, clock, subject };
}

describe("ToolGrants", () => {
  it("PRM-22: a grant is for one agent, one server, one tool and one definition", async () => {
    const { grants, subject } = createGrants();
    expect(grants.grantedUntil(subject("read"))).toBeUndefined();
    await grants.allow({ agent: "a", server: "files", tool: "read" });
    expect(grants.grantedUntil(subject("read"))).toBe(Number.POSITIVE_INFINITY);
    expect(grants.grantedUntil(subject("write"))).toBeUndefined();
    expect(grants.grantedUntil(subject("read", "logs"))).toBeUndefined();
    expect(grants.grantedUntil(subject("read", "files", "b"))).toBeUndefined();
    expect(grants.grantedUntil({ ...subject("read"), fingerprint: "x" })).toBeUndefined();
  });

  it("PRM-22: a grant for some time ends by the clock, and is listed until then", async () => {
    const { grants, subject, clock } = createGrants();
    const expiresAt = clock.now() + 1_000;
    const grantedAt = clock.now();
    const allowed = await grants.allow({ agent: "a", server: "files", tool: "read", expiresAt });
    expect(allowed).toStrictEqual([
      { agent: "a", server: "files", tool: "read", grantedAt, expiresAt },
    ]);
    await clock.advance(999);
    expect(grants.grantedUntil(subject("read"))).toBe(expiresAt);
    expect(grants.list()).toHaveLength(1);
    await clock.advance(1);
    expect(grants.grantedUntil(subject("read"))).toBeUndefined();
    expect(grants.list()).toEqual([]);
  });

  it("PRM-22: a whole server is granted by its tools and its content, without destructive tools unless asked", async () => {
    const { grants, subject, told, clock } = createGrants();
    const toolsOf = async (options: object) =>
      (await grants.allow({ agent: "a", server: "files", ...options })).map(({ tool }) => tool);
    expect(await toolsOf({})).toEqual(["read", "write", "(content)"]);
    expect(grants.grantedUntil(subject("drop"))).toBeUndefined();
    expect(grants.grantedUntil({ ...subject("read"), ...contentSubject })).toBeDefined();
    expect(await toolsOf({ includeDestructive: true })).toEqual([
      "read",
      "write",
      "(content)",
      "drop",
    ]);
    expect(told).toEqual(
      [
        ["read", "write", "(content)"],
        ["read", "write", "drop", "(content)"],
      ].map((toolNames) => ({
        type: "grant-added",
        agent: "a",
        serverName: "files",
        toolNames,
        at: clock.now(),
      })),
    );
  });

  it("PRM-22: allowing gives what was allowed just now, and content can be allowed alone", async () => {
    const { grants, subject } = createGrants();
    await grants.allow({ agent: "a", server: "files", tool: "read" });
    expect(await grants.allow({ agent: "a", server: "files", tool: "(content)" })).toStrictEqual([
      { agent: "a", server: "files", tool: "(content)", grantedAt: expect.any(Number) },
    ]);
    expect(grants.grantedUntil(subject("write"))).toBeUndefined();
  });

  it("PRM-22: allowing does not give what another agent was allowed", async () => {
    const { grants } = createGrants();
    await grants.allow({ agent: "b", server: "files", tool: "read" });
    expect(await grants.allow({ agent: "a", server: "files", tool: "read" })).toMatchObject([
      { agent: "a" },
    ]);
  });

  it("PRM-22: consent to content has one name and one fingerprint, whatever is read", () => {
    expect(contentSubject).toEqual({ toolName: "(content)", fingerprint: "content" });
    const { catalog } = createGrants();
    const [reading] = catalog.tools("files") as [CatalogTool];
    expect(subjectOf({ ...reading, isContent: true })).toBe(contentSubject);
    expect(subjectOf(reading).toolName).toBe("read");
  });

  it("PRM-22: from a server that does not exist nothing is taken back, and nobody is told", async () => {
    const { grants, subject, told } = createGrants();
    await grants.grant([subject("read")]);
    expect(await grants.revoke({ server: "nobody" })).toBe(0);
    expect(grants.list()).toHaveLength(1);
    expect(told).toEqual([]);
  });

  it("PRM-22: an answer for good is kept like a grant, and an empty one is nothing", async () => {
    const { grants, subject, revision } = createGrants();
    const before = revision.count;
    await grants.grant([]);
    expect(revision.count).toBe(before);
    await grants.grant([subject("read"), subject("write", "logs", "b")]);
    expect(revision.count).not.toBe(before);
    expect(grants.list().map(({ agent, server, tool }) => [agent, server, tool])).toEqual([
      ["a", "files", "read"],
      ["b", "logs", "write"],
    ]);
  });

  it("PRM-22: grants are listed by agent, server and tool", async () => {
    const { grants, subject } = createGrants();
    await grants.grant([
      subject("read"),
      subject("write"),
      subject("read", "logs"),
      subject("read", "files", "b"),
    ]);
    const listedBy = (query: object) =>
      grants.list(query).map(({ agent, server, tool }) => `${agent} ${server} ${tool}`);
    expect(listedBy({ agent: "b" })).toEqual(["b files read"]);
    expect(listedBy({ server: "logs" })).toEqual(["a logs read"]);
    expect(listedBy({ tool: "write" })).toEqual(["a files write"]);
    expect(listedBy({ agent: "a", server: "files", tool: "read" })).toEqual(["a files read"]);
    expect(listedBy({ server: "nobody" })).toEqual([]);
  });

  it("PRM-22: a grant of a server that is configured no more is listed without a name", async () => {
    const { grants, subject, registry } = createGrants();
    await grants.grant([subject("read")]);
    registry.apply([]);
    expect(grants.list()).toMatchObject([{ agent: "a", server: undefined, tool: "read" }]);
  });

  it("PRM-22: taking back takes what fits and tells what was asked for", async () => {
    const { grants, subject, told, clock, revision } = createGrants();
    await grants.grant([subject("read"), subject("write"), subject("read", "logs")]);
    const before = revision.count;
    expect(await grants.revoke({ agent: "a", server: "files", tool: "read" })).toBe(1);
    expect(revision.count).not.toBe(before);
    expect(grants.grantedUntil(subject("read"))).toBeUndefined();
    expect(grants.grantedUntil(subject("write"))).toBeDefined();
    expect(await grants.revoke({ agent: "b" })).toBe(0);
    expect(await grants.revoke()).toBe(2);
    expect(grants.list()).toEqual([]);
    const at = clock.now();
    expect(told).toEqual([
      { type: "grant-revoked", agent: "a", serverName: "files", toolNames: ["read"], at },
      { type: "grant-revoked", agent: "b", serverName: null, toolNames: [], at },
      { type: "grant-revoked", agent: null, serverName: null, toolNames: [], at },
    ]);
  });

  it("PRM-22: taking back ends what sessions were allowed of the servers concerned, for the agent concerned", async () => {
    const { grants, registry } = createGrants();
    const epochs = () =>
      ["files", "logs"].flatMap((name) =>
        ["a", "b"].map((agent) => registry.get(name).consent.epoch(agent)),
      );
    const ended = async (query: object) => {
      const before = epochs();
      await grants.revoke(query);
      return epochs().map((epoch, index) => epoch !== before[index]);
    };
    expect(await ended({ agent: "a", server: "files" })).toEqual([true, false, false, false]);
    expect(await ended({ agent: "b" })).toEqual([false, true, false, true]);
    expect(await ended({ server: "logs" })).toEqual([false, false, true, true]);
  });

  it("PRM-22: a tool that waits for a person cannot be granted, and one that does not exist neither", async () => {
    const { grants } = createGrants({ quarantined: ["write"] });
    const allow = (tool: string) => grants.allow({ agent: "a", server: "files", tool });
    await expect(allow("write")).rejects.toMatchObject({
      code: "definition_changed",
      message: expect.stringContaining('"write" waits until a person accepts it'),
      hint: `see what it is now: ${ownCommand("approve", "files")}`,
      serverName: "files",
    });
    await expect(allow("raed")).rejects.toMatchObject({
      code: "tool_unknown",
      message: expect.stringContaining('no tool "raed"'),
      serverName: "files",
      details: { suggestions: ["read"] },
    });
    expect(grants.list()).toEqual([]);
    expect((await grants.allow({ agent: "a", server: "files" })).map(({ tool }) => tool)).toEqual([
      "read",
      "(content)",
    ]);
  });

  it("PRM-22: a server whose tools are not known is started first, another one is not", async () => {
    const { connection, handshake, handshakes } = scriptedConnection();
    const { grants, catalog } = createGrants({ connection });
    await grants.allow({ agent: "a", server: "files", tool: "read" });
    expect(handshakes).toHaveLength(0);
    catalog.clear("files");
    const allowing = grants.allow({ agent: "a", server: "files", tool: "late" });
    const { succeed } = await handshake(0);
    catalog.load("files", [listed("late")]);
    succeed();
    expect(await allowing).toMatchObject([{ tool: "late" }]);
    await connection.close();
  });

  it("PRM-22: nothing can be granted of a server that may not be started", async () => {
    const { grants } = createGrants();
    await expect(grants.allow({ agent: "a", server: "held", tool: "read" })).rejects.toMatchObject({
      code: "not_approved",
    });
    expect(grants.list()).toEqual([]);
  });

  it("PRM-22: another host has the grants of the store, and not those that were taken back", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "tool-grants-"));
    const location = path.join(root, "s.db");
    const clock = new ManualClock();
    const first = createGrants({ location, clock });
    const expiresAt = clock.now() + 5_000;
    await first.grants.allow({ agent: "a", server: "files", tool: "read", expiresAt });
    await first.grants.allow({ agent: "b", server: "files", tool: "write" });
    const second = createGrants({ location, clock });
    await second.grants.load();
    expect(second.grants.list()).toStrictEqual([
      { agent: "a", server: "files", tool: "read", grantedAt: clock.now(), expiresAt },
      { agent: "b", server: "files", tool: "write", grantedAt: clock.now() },
    ]);
    expect(second.grants.grantedUntil(second.subject("read"))).toBe(expiresAt);
    // A grant of a whole server covers no tool: those it has now are not those it had.
    const { agent, consentId, fingerprint } = first.subject("read");
    await first.store.write((store) => store.grants.grant([{ agent, consentId, fingerprint }]));
    await second.grants.load();
    expect(second.grants.list()).toHaveLength(2);
    // Not loaded yet, but taken back all the same.
    const third = createGrants({ location, clock });
    expect(await third.grants.revoke({ agent: "b" })).toBe(1);
    const before = second.revision.count;
    await second.grants.load();
    expect(second.revision.count).not.toBe(before);
    expect(second.grants.list().map(({ agent }) => agent)).toEqual(["a"]);
    for (const { store } of [first, second, third]) await store.close();
    await rm(root, { recursive: true });
  });
});

describe("consent modes", () => {
  it("PRM-13: are told when they are set and when they end, for one agent or for everybody", () => {
    const { registry, events, clock } = createGrants();
    publishConsentModes({ registry, events, clock });
    const told: HostEvent[] = [];
    for (const type of ["consent-mode-set", "consent-ended"] as const)
      events.on(type, (event) => void told.push(event));
    const files = registry.get("files");
    registry.setConsentMode(files, "allow-all", "a");
    registry.setConsentMode(files, "ask-per-tool");
    registry.endConsent(files, "a");
    registry.endConsent(files);
    const at = clock.now();
    const serverName = "files";
    expect(told).toEqual([
      { type: "consent-mode-set", agent: "a", serverName, mode: "allow-all", at },
      { type: "consent-mode-set", agent: null, serverName, mode: "ask-per-tool", at },
      { type: "consent-ended", agent: "a", serverName, at },
      { type: "consent-ended", agent: null, serverName, at },
    ]);
  });
});
