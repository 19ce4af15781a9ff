import { describe, expect, it } from "vitest";

import { createHost, type HostEvent, type HostEventOf, type Session } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { watchSpawns } from "../abuse/spawns.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { abandonedUrl } from "../fixtures/network/abandoned-url.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

type StateEvent = HostEventOf<"server-state">;

/** What a session hears of its servers' connections, and a promise of the first event of a kind. */
function follow(session: Session) {
  const heard: StateEvent[] = [];
  const waiting: ((event: StateEvent) => void)[] = [];
  session.on("server-state", (event) => {
    heard.push(event);
    for (const tell of waiting) tell(event);
  });
  /** The next event with this state. */
  const next = (state: StateEvent["state"]): Promise<StateEvent> =>
    new Promise((resolve) => {
      waiting.push((event) => {
        if (event.state === state) resolve(event);
      });
    });
  return { heard, next };
}

describe("what a session hears of a connection", () => {
  it("SES-17: that it is lost and comes back", async () => {
    const servers = { files: testServerEntry() };
    await using host = await createHost({ config: false, servers });
    const session = host.session({ level: "yolo" });
    const { heard, next } = follow(session);
    const [child] = await watchSpawns(async () => {
      await session.execute("mcp__files__echo", { message: "useful" });
    });
    const [lost, back] = [next("reconnecting"), next("connected")];
    child?.process.kill("SIGKILL");
    expect(await lost).toMatchObject({
      type: "server-state",
      serverName: "files",
      owner: null,
      previous: "connected",
      error: { code: "connection_lost", message: expect.stringContaining("SIGKILL") },
      at: expect.any(Number),
    });
    expect(await back).toMatchObject({ previous: "reconnecting" });
    expect(heard.map(({ state }) => state)).toEqual([
      "connecting",
      "connected",
      "reconnecting",
      "connected",
    ]);
    expect(heard.at(-1)).not.toHaveProperty("error");
  });

  it("SES-17: that it is lost and does not come back", async () => {
    const servers = { files: { ...testServerEntry(), reconnect: false } };
    await using host = await createHost({ config: false, servers });
    const session = host.session({ level: "yolo" });
    const { next } = follow(session);
    const [child] = await watchSpawns(async () => {
      await session.execute("mcp__files__echo", { message: "useful" });
    });
    const lost = next("disconnected");
    child?.process.kill("SIGKILL");
    expect(await lost).toMatchObject({
      serverName: "files",
      previous: "connected",
      error: { code: "connection_lost" },
    });
    expect(host.server("files")).toMatchObject({
      state: "disconnected",
      lastError: { code: "connection_lost" },
    });
  });

  it.each([
    ["nobody listens", "disconnected", "unreachable"],
    ["there is no such command", "error", "command_not_found"],
  ] as const)("SES-17: that it failed because %s", async (reason, state, code) => {
    const entry =
      reason === "nobody listens"
        ? ({ url: await abandonedUrl(), transport: "streamable-http", reconnect: false } as const)
        : { command: "plugboard-no-such-command" };
    await using host = await createHost({ config: false, servers: { gone: entry } });
    const session = host.session({ level: "yolo" });
    const { heard } = follow(session);
    expect(await session.ready()).toMatchObject({ gone: { ready: false } });
    expect(heard).toMatchObject([
      { serverName: "gone", state: "connecting", previous: "idle" },
      { serverName: "gone", state, previous: "connecting", error: { code } },
    ]);
    const error = host.server("gone").lastError;
    expect(heard[1]?.error).toEqual({ code, message: error?.message });
  });
});

describe("what a session hears of a question", () => {
  it.each([
    ["a person says no", "no"],
    ["nobody can be asked", "nobody to ask"],
  ] as const)("SES-17: that consent was denied, because %s", async (reason, answer) => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { human } = scriptedHuman("no");
    const session = context.host.session({
      agent: "a",
      level: "trusted",
      ...(reason === "a person says no" ? { human } : {}),
    });
    await session.ready();
    const heard: HostEvent[] = [];
    session.on("*", (event) => heard.push(event));
    const answers: (string | undefined)[] = [];
    session.on("consent-denied", (event) => answers.push(event.answer));
    await session.call("mcp__fake__any", {}, { callId: "c" });
    const about = { callId: "c", agent: "a", serverName: "fake", toolName: "any" };
    expect(heard.slice(0, 3)).toMatchObject([
      { type: "consent-asked", ...about },
      { type: "consent-denied", ...about, answer },
      { type: "call-end", ...about, ok: false, code: "consent_denied" },
    ]);
    expect(heard[0]).not.toHaveProperty("answer");
    expect(answers).toEqual([answer]);
  });
});
