import { describe, expect, it } from "vitest";

import { ScriptedServer, sendJson } from "../../../tests/fixtures/http/scripted-server.ts";
import { openWire } from "../../../tests/fixtures/http/wire.ts";
import { sameOriginRedirect } from "./http-redirect.ts";

const from = new URL("http://api.example:8080/a/tools?key=1");

function follow(status: number, location?: string): string | undefined {
  const headers = location === undefined ? {} : { location };
  return sameOriginRedirect({ status, headers }, from)?.href;
}

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])("HTP-07: %i within the origin is followed", (status) => {
    expect(follow(status, "/a/tools/?key=1")).toBe("http://api.example:8080/a/tools/?key=1");
    expect(follow(status, "other")).toBe("http://api.example:8080/a/other");
  });

  it.each([
    ["another host", "http://evil.example:8080/a/tools"],
    ["another port", "http://api.example/a/tools"],
    ["another scheme", "https://api.example:8080/a/tools"],
    ["another host without its scheme", "//evil.example:8080/a"],
    ["a user name", "http://user@api.example:8080/a/tools"],
    ["something that is no web address", "data:application/json,{}"],
    ["nonsense", "http://["],
  ])("HTP-07: one to %s is not", (_what, location) => {
    expect(follow(307, location)).toBeUndefined();
  });

  it("HTP-07: other statuses and a missing address are not", () => {
    expect(follow(200, "/b")).toBeUndefined();
    expect(follow(304, "/b")).toBeUndefined();
    expect(follow(307)).toBeUndefined();
  });
});

describe("a GET", () => {
  /** Answers `/tools` after as many hops as `hops` says. */
  function startHopping(hops: number): Promise<ScriptedServer> {
    return ScriptedServer.start((request, response) => {
      const hop = Number(new URL(request.target, "http://host").searchParams.get("hop") ?? 0);
      if (hop === hops) return sendJson(response, '{"tools":[]}');
      return response.writeHead(307, { location: `/tools?hop=${hop + 1}` }).end("Moved");
    });
  }

  it("HTP-07, RST-07: is sent on up to three times, credentials included", async () => {
    await using server = await startHopping(3);
    await using wire = await openWire(server.origin, { kind: "rest", headers: { "x-key": "k" } });
    const { result } = await wire.request("tools/list");
    expect(result).toEqual({ tools: [] });
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/tools",
      "/tools?hop=1",
      "/tools?hop=2",
      "/tools?hop=3",
    ]);
    expect(server.requests.every(({ headers }) => headers["x-key"] === "k")).toBe(true);
  });

  it("HTP-07: a fourth redirect is an answer like any other", async () => {
    await using server = await startHopping(4);
    await using wire = await openWire(server.origin, { kind: "rest" });
    await expect(wire.request("tools/list")).rejects.toMatchObject({
      code: "http_error",
      details: { status: 307, redirectOrigin: server.origin },
    });
    expect(server.requests).toHaveLength(4);
  });

  it("HTP-07: another origin never sees the request", async () => {
    await using other = await startHopping(0);
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(302, { location: `${other.origin}/tools` }).end(),
    );
    await using wire = await openWire(server.origin, { kind: "rest" });
    await expect(wire.request("tools/list")).rejects.toMatchObject({ code: "http_error" });
    expect(other.requests).toEqual([]);
  });

  it("PRO-22, TRN-07: can be ended between two hops", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.target === "/tools") response.writeHead(307, { location: "/tools/" }).end();
    });
    const wire = await openWire(server.origin, { kind: "rest" });
    const listing = wire.request("tools/list");
    await server.until(() => server.requests.length === 2);
    const closing = wire.transport.close();
    await expect(listing).rejects.toMatchObject({ code: "closed" });
    await closing;
  });
});
