import { describe, expect, it } from "vitest";

import { ManualClock, settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { deferred } from "../../tests/host/deferred.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { EventBus } from "../events/event-bus.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { ConfirmAnswer, ConfirmQuestion, Human } from "../human/human.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import { silentLogger } from "../ports/logger.ts";
import { HostStore } from "../store/host-store.ts";
import { Approvals } from "./approvals.ts";
import { ApprovedLaunches, type DescribedServer } from "./approved-launches.ts";
import { LaunchApproval } from "./launch-approval.ts";
import { entryIdOf, launchFacts } from "./launch-facts.ts";

const provenance = { layer: "project", path: "/project/.mcp.json" } as const;
const serverOf = (entry: object, options: object = { provenance }): DescribedServer => {
  const config = parseServerEntry("p", entry, options);
  return { config, entryId: entryIdOf(launchFacts(config)) };
};

interface ScriptOptions {
  readonly human?: Human | undefined;
  /** The server of the name that is in force; the one to approve by default. */
  readonly inForce?: DescribedServer;
}

/** Approvals on a machine where every command stands for `state.file`, with one server of a project. */
function scripted({ human, inForce }: ScriptOptions = {}) {
  const clock = new ManualClock();
  const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
  const state = { file: "/bin/run" };
  const launches = new ApprovedLaunches(
    () => ({ commandPath: state.file, folder: "/project" }),
    new AccessRevision(),
  );
  const approvals = new Approvals(store, launches);
  const server = serverOf({ command: "run" });
  const done: string[] = [];
  const events = new EventBus();
  const told: HostEvent[] = [];
  events.on("*", (event) => void told.push(event));
  const closing = new AbortController();
  const approval = new LaunchApproval({
    launches,
    approvals,
    servers: {
      get: () => inForce ?? server,
      toApprove: () => server,
      stop: (stopped) => {
        done.push(stopped === server ? "stop" : "stop another");
        return Promise.resolve();
      },
    },
    settle: () => {
      done.push("settle");
      return Promise.resolve();
    },
    human,
    timeoutMs: 1_000,
    hostEnv: {},
    events,
    clock,
    closing: closing.signal,
  });
  return { approval, approvals, launches, server, state, done, told, clock, closing, store };
}

/** A person who gives these answers, one after the other. */
function person(...answers: ConfirmAnswer[]) {
  const questions: ConfirmQuestion[] = [];
  const human = {
    confirm: (question: ConfirmQuestion) => {
      questions.push(question);
      return Promise.resolve(answers.shift() ?? "no");
    },
  } as Human;
  return { human, questions };
}

describe("asking whether a server may start", () => {
  it("PRM-21: a yes is kept, told and followed", async () => {
    const { human, questions } = person("server-always");
    const { approval, launches, server, done, told, clock, approvals } = scripted({ human });
    const launch = await approval.question("p");
    expect(await approval.request("p", { agent: "a", by: "page" })).toBe(true);
    expect(questions).toStrictEqual([
      {
        kind: "launch",
        serverName: "p",
        launch,
        answers: ["no", "server-always"],
        agent: "a",
      },
    ]);
    expect(launches.isApproved(server)).toBe(true);
    expect(done).toEqual(["settle"]);
    const at = clock.now();
    const serverName = "p";
    const launchId = launch?.launchId;
    expect(told).toEqual([
      { type: "launch-asked", serverName, launchId, at },
      { type: "launch-approved", serverName, launchId, at },
    ]);
    expect(await approvals.listFor("p")).toMatchObject([{ launchId, approvedBy: "page" }]);
    // Nobody is asked again.
    expect(await approval.request("p", {})).toBe(true);
    expect(await approval.question("p")).toBeUndefined();
    expect(questions).toHaveLength(1);
  });

  it.each<[ConfirmAnswer | undefined]>([["no"], ["once"], ["server-session"], [undefined]])(
    "PRM-17: %s is no yes to a launch",
    async (answer) => {
      const { human } = person(...(answer === undefined ? [] : [answer]));
      const { approval, launches, server, told, done } = scripted({ human });
      expect(await approval.request("p", {})).toBe(false);
      expect(launches.isApproved(server)).toBe(false);
      expect(told.map(({ type }) => type)).toEqual(["launch-asked", "launch-denied"]);
      expect(done).toEqual([]);
    },
  );

  it("PRM-17: nobody to ask means no, and nobody is told of a question", async () => {
    for (const human of [undefined, {}]) {
      const { approval, told } = scripted({ human });
      expect(await approval.request("p", {})).toBe(false);
      expect(told).toEqual([]);
    }
  });

  it("PRM-17: silence means no after a while, by the host's own clock", async () => {
    const human = { confirm: () => new Promise<ConfirmAnswer>(() => {}) };
    const { approval, clock, told } = scripted({ human });
    const asking = approval.request("p", {});
    while (told.length === 0) await settled();
    await clock.advance(1_000);
    expect(await asking).toBe(false);
    expect(told.at(-1)).toMatchObject({ type: "launch-denied" });
  });

  it("asks the person whom the request names in place of the host's", async () => {
    const [host, own] = [person(), person("server-always")];
    const { approval, approvals } = scripted({ human: host.human });
    expect(await approval.request("p", { human: own.human })).toBe(true);
    expect([host.questions.length, own.questions.length]).toEqual([0, 1]);
    expect("agent" in (own.questions[0] ?? {})).toBe(false);
    expect(await approvals.listFor("p")).toMatchObject([{ approvedBy: "person" }]);
  });

  it("PRM-21: a yes does not count for what would start by then", async () => {
    const answer = deferred<ConfirmAnswer>();
    const { approval, launches, server, state, told } = scripted({
      human: { confirm: () => answer.promise },
    });
    const asking = approval.request("p", {});
    while (told.length === 0) await settled();
    state.file = "/tmp/evil";
    answer.resolve("server-always");
    await expect(asking).rejects.toMatchObject({
      code: "not_approved",
      message: expect.stringContaining('what "p" would start is not what was shown'),
      hint: expect.stringContaining("look at it again: "),
      serverName: "p",
    });
    expect(launches.isApproved(server)).toBe(false);
  });

  it("asks once for two who want the server", async () => {
    const { human, questions } = person("server-always");
    const { approval } = scripted({ human });
    expect(await Promise.all([approval.request("p", {}), approval.request("p", {})])).toEqual([
      true,
      true,
    ]);
    expect(questions).toHaveLength(1);
  });

  it("is over when the caller or the host gives up, and a later yes changes nothing", async () => {
    for (const who of ["caller", "host"] as const) {
      const answer = deferred<ConfirmAnswer>();
      const human = { confirm: () => answer.promise };
      const caller = new AbortController();
      const { approval, closing, told, launches, server } = scripted({ human });
      const asking = approval.request("p", { signal: caller.signal });
      while (told.length === 0) await settled();
      (who === "caller" ? caller : closing).abort();
      await expect(asking).rejects.toMatchObject(
        who === "caller"
          ? { code: "cancelled", serverName: "p" }
          : { code: "closed", message: expect.stringContaining("the host has been closed") },
      );
      answer.resolve("server-always");
      await settled();
      expect(launches.isApproved(server)).toBe(false);
      expect(told.map(({ type }) => type)).toEqual(["launch-asked"]);
    }
  });

  it("asks nobody when the caller or the host has given up before", async () => {
    const { human, questions } = person("server-always", "server-always");
    const first = scripted({ human });
    await expect(
      first.approval.request("p", { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: "cancelled" });
    const second = scripted({ human });
    second.closing.abort();
    await expect(second.approval.request("p", {})).rejects.toMatchObject({ code: "closed" });
    expect(questions).toEqual([]);
  });

  it("needs no answer where the file is again what was approved, which the servers follow", async () => {
    const { human, questions } = person("server-always");
    const { approval, state, done, launches, server } = scripted({ human });
    await approval.request("p", {});
    state.file = "/bin/other";
    expect(await approval.question("p")).toBeUndefined();
    launches.lookUp(server.config);
    expect(await approval.question("p")).toMatchObject({
      difference: { changes: [{ name: "file", was: "/bin/run", is: "/bin/other" }] },
    });
    state.file = "/bin/run";
    done.length = 0;
    expect(await approval.question("p")).toBeUndefined();
    expect(done).toEqual(["settle"]);
    expect(questions).toHaveLength(1);
  });

  it("PRM-21: says which server of the same name would be replaced", async () => {
    const inForce = serverOf({ command: "old" }, { provenance: { layer: "user" } });
    const { approval } = scripted({ inForce });
    expect(await approval.question("p")).toMatchObject({
      replaces: { origin: { layer: "user" }, target: "old" },
    });
    expect(await scripted().approval.question("p")).not.toHaveProperty("replaces");
  });
});

describe("taking an approval back", () => {
  it("PRM-21: stops what runs and tells it", async () => {
    const { approval, launches, server, done, told, approvals } = scripted();
    await approval.approve("p", {});
    expect(approvals.hasFor("p")).toBe(true);
    const { launchId } = launches.lookUp(server.config);
    done.length = 0;
    await approval.revoke("p");
    expect(launches.isApproved(server)).toBe(false);
    expect(approvals.hasFor("p")).toBe(false);
    expect(await approvals.listFor("p")).toEqual([]);
    expect(done).toEqual(["stop", "settle"]);
    expect(told.at(-1)).toEqual({ type: "launch-revoked", serverName: "p", launchId, at: 0 });
  });

  it("PRM-21: takes back that of the project's entry, whichever entry is in force", async () => {
    const ofUser = serverOf({ command: "old" }, { provenance: { layer: "user" } });
    const ofProject = serverOf({ command: "newer" });
    const first = scripted({ inForce: ofUser });
    await first.approval.revoke("p");
    expect(first.done).toEqual(["stop", "settle"]);
    const second = scripted({ inForce: ofProject });
    await second.approval.revoke("p");
    expect(second.done).toEqual(["stop another", "settle"]);
  });

  it("PRM-21: counts at once, also where the store cannot be written", async () => {
    const { approval, launches, server, done, told, store } = scripted();
    await approval.approve("p", {});
    done.length = 0;
    await store.close();
    await expect(approval.revoke("p")).rejects.toMatchObject({ code: "closed" });
    expect(launches.isApproved(server)).toBe(false);
    expect(done).toEqual(["stop", "settle"]);
    expect(told.at(-1)).toMatchObject({ type: "launch-revoked" });
  });
});
