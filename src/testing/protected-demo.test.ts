import { describe, expect, it } from "vitest";

import { signInByHand } from "../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { startProtectedDemo } from "./index.ts";

function callTool(url: string, token: string, name: string, args: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    }),
  });
}

describe("the protected demo", () => {
  it("answers who signed in, and asks for more before it deletes", async () => {
    await using demo = await startProtectedDemo({ consent: "approve" });
    expect(demo.url).toBe(`http://127.0.0.1:${demo.port}/mcp`);
    expect((await fetch(demo.url, { method: "POST" })).status).toBe(401);
    const few = await signInByHand(demo.issuer, { resource: demo.url });
    const echoed = await callTool(demo.url, few.accessToken, "echo", { message: "hello" });
    expect(await echoed.text()).toContain("hello");
    expect((await callTool(demo.url, few.accessToken, "delete_note", { id: "n1" })).status).toBe(
      403,
    );
    const scope = "mcp notes:delete";
    const more = await signInByHand(demo.issuer, { resource: demo.url, scope });
    const deleted = await callTool(demo.url, more.accessToken, "delete_note", { id: "n1" });
    expect(await deleted.text()).toContain("Deleted note n1.");
  });

  it("shows a page to a person unless it is told not to", async () => {
    await using demo = await startProtectedDemo();
    await expect(signInByHand(demo.issuer, { resource: demo.url })).rejects.toThrow(
      "no redirect, but 200",
    );
  });

  it("says that its port is taken", async () => {
    await using demo = await startProtectedDemo();
    await expect(startProtectedDemo({ port: demo.port })).rejects.toMatchObject({
      code: "config_invalid",
    });
  });
});
