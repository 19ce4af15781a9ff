import path from "node:path";

import { describe, expect, it } from "vitest";

import type {
  AskOptions,
  ConfirmAnswer,
  ConfirmQuestion,
  HostEvent,
  Human,
  McpHost,
} from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { deferred } from "./deferred.ts";
import { makeProject } from "./project.ts";

interface Asked {
  readonly question: ConfirmQuestion;
  readonly signal: AbortSignal;
}

/** Answers what `answer` says, and keeps what it was asked. */
function personSaying(
  answer: (question: ConfirmQuestion) => ConfirmAnswer | Promise<ConfirmAnswer>,
): { readonly human: Human; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const confirm = async (question: ConfirmQuestion, { signal }: AskOptions) => {
    asked.push({ question, signal });
    return await answer(question);
  };
  return { human: { confirm }, asked };
}

/** One who looks at the question and says nothing. */
function silentPerson() {
  const shown = deferred();
  const person = personSaying(() => {
    shown.resolve();
    return new Promise(() => {});
  });
  return { ...person, shown: shown.promise };
}

function launchEvents(host: McpHost): readonly string[] {
  const seen: string[] = [];
  host.on("*", ({ type }: HostEvent) => {
    if (type.startsWith("launch-")) seen.push(type);
  });
  return seen;
}

describe("asking a person whether a server of a project may start", () => {
  it("decision 5: connect asks with all there is to see, and a yes is kept", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human, asked } = personSaying(() => "server-always");
    {
      await using host = await project.host({ human });
      const events = launchEvents(host);
      const shown = await host.approvalQuestion("project");
      const status = await host.connect("project", { owner: "a" });
      expect(status.state).toBe("connected");
      expect(asked.map(({ question }) => question)).toEqual([
        {
          kind: "launch",
          serverName: "project",
          agent: "a",
          launch: shown,
          answers: ["no", "server-always"],
        },
      ]);
      expect(events).toEqual(["launch-asked", "launch-approved"]);
      expect(await host.audit.query({ type: "launch-approved" })).toHaveLength(1);
      // It is no question any more.
      expect(await host.requestApproval("project")).toBe(true);
    }
    await using other = await project.host({ human });
    expect((await other.connect("project")).state).toBe("connected");
    expect(asked).toHaveLength(1);
  });

  it.each(["no", "once", "tool-session", "server-session", "tool-always", "yes"])(
    "decision 5: %s is a no, and starts nothing",
    async (answer) => {
      await using project = await makeProject();
      await project.write(testServerEntry());
      const { human } = personSaying(() => answer as ConfirmAnswer);
      await using host = await project.host({ human });
      const events = launchEvents(host);
      await expect(host.connect("project")).rejects.toMatchObject({ code: "not_approved" });
      expect(host.server("project")).toMatchObject({ state: "pending", pid: undefined });
      expect(events).toEqual(["launch-asked", "launch-denied"]);
      expect(await host.audit.query()).toMatchObject([
        { type: "launch-denied", server: "project" },
      ]);
      expect(await host.requestApproval("project")).toBe(false);
    },
  );

  it("decision 5: an error is a no; nobody to ask is no question", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human } = personSaying(() => Promise.reject(new Error("the terminal is gone")));
    await using host = await project.host();
    const events = launchEvents(host);
    expect(await host.requestApproval("project", { human })).toBe(false);
    expect(events).toEqual(["launch-asked", "launch-denied"]);
    expect(await host.requestApproval("project")).toBe(false);
    await expect(host.connect("project")).rejects.toMatchObject({ code: "not_approved" });
    expect(events).toHaveLength(2);
    await expect(host.requestApproval("projekt", { human })).rejects.toMatchObject({
      code: "server_unknown",
    });
  });

  it("PRM-21: a yes does not count for what the entry has become meanwhile", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human } = personSaying(async (): Promise<ConfirmAnswer> => {
      await project.write({ ...testServerEntry(), env: { NEW: "1" } });
      await host.reload();
      return "server-always";
    });
    await using host = await project.host({ human });
    await expect(host.connect("project")).rejects.toMatchObject({ code: "not_approved" });
    expect(host.server("project").state).toBe("pending");
    expect(await host.approvalQuestion("project")).toBeDefined();
  });

  it("two who want it at once are served by one answer", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human, asked } = personSaying(() => "server-always");
    await using host = await project.host({ human });
    const both = await Promise.all([host.connect("project"), host.connect("project")]);
    expect(both.map(({ state }) => state)).toEqual(["connected", "connected"]);
    expect(asked).toHaveLength(1);
  });

  it("whoever gives up takes the question away, and that is no answer", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human, asked, shown } = silentPerson();
    await using host = await project.host({ human });
    const events = launchEvents(host);
    const stop = new AbortController();
    const connecting = host.connect("project", { signal: stop.signal });
    await shown;
    stop.abort();
    await expect(connecting).rejects.toMatchObject({ code: "cancelled" });
    expect(asked[0]?.signal.aborted).toBe(true);
    await expect(
      host.requestApproval("project", { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect([asked.length, events]).toEqual([1, ["launch-asked"]]);
  });

  it("a host that closes takes the question away", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human, asked, shown } = silentPerson();
    await using host = await project.host({ human });
    const asking = host.requestApproval("project");
    await shown;
    await Promise.all([expect(asking).rejects.toMatchObject({ code: "closed" }), host.close()]);
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it("decision 5: what an agent does, and whatever concerns all servers, asks nobody", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const { human, asked } = personSaying(() => "server-always");
    await using host = await project.host({ human });
    const session = host.session({ level: "yolo" });
    expect(await host.connectAll()).toEqual({});
    await session.ready();
    expect(session.tools()).toEqual([]);
    expect(await session.call("mcp__project__add", { a: 1, b: 2 })).toMatchObject({ ok: false });
    expect(asked).toEqual([]);
    expect(host.server("project").state).toBe("pending");
  });

  it("an approval taken back is told also when the store cannot be written", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const store = path.join(project.home, "s.db");
    await using host = await project.host({ store });
    await host.approve("project");
    await host.connect("project");
    const events = launchEvents(host);
    const vandal = new DatabaseSync(store);
    vandal.exec(
      "CREATE TRIGGER refuse BEFORE DELETE ON approvals BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await expect(host.revokeApproval("project")).rejects.toMatchObject({ code: "store_failed" });
    vandal.close();
    expect(events).toEqual(["launch-revoked"]);
    expect(host.server("project")).toMatchObject({ state: "pending", pid: undefined });
  });
});
