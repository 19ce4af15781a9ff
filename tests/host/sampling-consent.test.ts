import { describe, expect, it } from "vitest";

import {
  type ConfirmAnswer,
  type ConfirmQuestion,
  createHost,
  type McpHost,
  type Session,
} from "../../src/index.ts";
import { overStdio } from "../fixtures/servers/open-asking-server.ts";

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  /** What people were asked so far. */
  readonly asked: readonly ConfirmQuestion[];
  session(answer: ConfirmAnswer): Session;
}

async function scene(): Promise<Scene> {
  const server = await overStdio("legacy");
  const host = await createHost({
    config: false,
    servers: { a: server.entry },
    sampling: async () => ({ content: "Forty-two", model: "test-model" }),
  });
  const asked: ConfirmQuestion[] = [];
  return {
    host,
    asked,
    session: (answer) =>
      host.session({
        level: "yolo",
        human: {
          confirm: async (question) => {
            asked.push(question);
            return answer;
          },
        },
      }),
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const sample = (session: Session) => session.call("mcp__a__sample", { text: "?" });

describe("a yes to the model for the rest of the session", () => {
  it("A16 PRM-09: holds in plain calls and transactions alike, and for no other session", async () => {
    await using context = await scene();
    const session = context.session("server-session");
    for (let time = 0; time < 2; time += 1)
      await session.transaction((transaction) => transaction.call("mcp__a__sample", { text: "?" }));
    expect((await sample(session)).ok).toBe(true);
    expect(context.asked).toHaveLength(1);
    await sample(session.child());
    await sample(context.session("server-session"));
    expect(context.asked).toHaveLength(3);
  });

  it("A16: ends when somebody disconnects the server or revokes what was allowed of it", async () => {
    await using context = await scene();
    const { host, asked } = context;
    const session = context.session("server-session");
    await sample(session);
    await host.reconnect("a");
    await sample(session);
    expect(asked).toHaveLength(1);
    await host.disconnect("a");
    await sample(session);
    expect(asked).toHaveLength(2);
    await host.grants.revoke({ server: "a" });
    await sample(session);
    await sample(session);
    expect(asked).toHaveLength(3);
  });

  it("A16: any other yes is one to this request, and the question says which there are", async () => {
    await using context = await scene();
    for (const answer of ["once", "tool-session", "tool-always", "server-always"] as const) {
      const session = context.session(answer);
      const before = context.asked.length;
      expect([(await sample(session)).ok, (await sample(session)).ok]).toEqual([true, true]);
      expect(context.asked.length - before, answer).toBe(2);
    }
    expect(context.asked.at(-1)?.answers).toEqual(["no", "once", "server-session"]);
  });
});
