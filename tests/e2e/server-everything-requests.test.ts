import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import type { FieldValue, FormQuestion } from "../../src/entries/human.ts";
import { createHost, type HostOptions } from "../../src/index.ts";
import { realServer, startEverythingOverHttp } from "../fixtures/servers/real-servers.ts";

const places = {
  stdio: async () => ({
    entry: realServer("server-everything", "stdio"),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
  "streamable HTTP": async () => {
    const server = await startEverythingOverHttp();
    return {
      entry: { url: server.url, transport: "streamable-http" } as const,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

/** A host with `server-everything`; its tools depend on what the host can answer. */
async function enter(place: keyof typeof places, options: HostOptions) {
  const server = await places[place]();
  const host = await createHost({ config: false, servers: { real: server.entry }, ...options });
  const session = host.session({ agent: "e2e", level: "yolo" });
  await host.connect("real");
  const names = () => session.tools().map(({ originalName }) => originalName);
  return {
    host,
    session,
    names,
    /** The server lists these tools some time after the handshake. */
    async listed(tool: string) {
      await expect.poll(names).toContain(tool);
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each(Object.keys(places) as (keyof typeof places)[])(
  "what @modelcontextprotocol/server-everything asks over %s",
  (place) => {
    it("PRO-19 PRO-21: forms with every kind of field, addresses, a model and roots", async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "roots-"));
      const forms: FormQuestion[] = [];
      const opened: string[] = [];
      const values: Record<string, FieldValue> = {
        name: "Ada",
        check: true,
        email: "ada@example.com",
        birthdate: "1815-12-10",
        integer: 7,
      };
      await using scene = await enter(place, {
        human: {
          confirm: async () => "once",
          elicit: async (question) => {
            if (question.kind === "form") forms.push(question);
            return question.kind === "form"
              ? { action: "accept", content: values }
              : { action: "accept" };
          },
          openUrl: async (url) => {
            opened.push(url);
          },
        },
        sampling: async ({ messages }) => ({
          content: `heard ${messages.length}`,
          model: "e2e-model",
        }),
        roots: [folder],
      });
      await scene.listed("trigger-elicitation-request");
      const filled = await scene.session.call("mcp__real__trigger-elicitation-request");
      expect(filled.text).toContain("- Name: Ada");
      expect(filled.text).toContain("- Favorite Integer: 7");
      // The form's own default, for a field that was left out.
      expect(filled.text).toContain("- Favorite Number: 3.14");
      expect(forms[0]?.fields.map(({ type }) => type).join(" ")).toBe(
        "text boolean text text text text integer number choice choices choice choices choice",
      );

      const url = "https://example.com/sign-in";
      const visited = await scene.session.call("mcp__real__trigger-url-elicitation", { url });
      expect(visited.text).toContain("User completed the URL elicitation flow");
      expect(opened).toEqual([url]);

      const sampled = await scene.session.call("mcp__real__trigger-sampling-request", {
        prompt: "Hello",
        maxTokens: 10,
      });
      expect(sampled.text).toContain("heard 1");
      expect(sampled.text).toContain("e2e-model");

      const roots = await scene.session.call("mcp__real__get-roots-list");
      expect(roots.text).toContain(pathToFileURL(folder).href);
    });

    it("PRO-21: without anybody to answer it offers none of these tools", async () => {
      await using scene = await enter(place, {});
      expect(scene.names()).toContain("echo");
      for (const tool of [
        "trigger-elicitation-request",
        "trigger-sampling-request",
        "get-roots-list",
      ])
        expect(scene.names()).not.toContain(tool);
    });
  },
);
