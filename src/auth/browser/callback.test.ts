import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { type Callback, openCallback } from "./callback.ts";

const state = "the-state-of-this-sign-in";

/** A callback of the server `app` that closes with the test. */
async function open(
  options: Omit<Parameters<typeof openCallback>[0], "serverName"> = {},
): Promise<{ readonly callback: Callback } & AsyncDisposable> {
  const callback = await openCallback({ serverName: "app", ...options });
  return { callback, [Symbol.asyncDispose]: () => callback.close() };
}

/** Comes to an address as nobody's browser would. */
async function knock(
  address: string,
  { method = "GET", host }: { method?: string; host?: string } = {},
): Promise<{
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}> {
  const sent = request(address, { method, agent: false, ...(host && { headers: { host } }) });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return { status: response.statusCode ?? 0, text, headers: response.headers };
}

/** Waits for the answer, and notes every code that was taken. */
function expectAnswer(callback: Callback): string[] {
  const codes: string[] = [];
  callback.answer(state, async (answer) => {
    codes.push(answer.get("code") ?? "");
    return { isDone: true, text: "done <b>&amp;" };
  });
  return codes;
}

describe("the address that a browser returns to", () => {
  it("AUT-04: takes the answer of its sign-in, once", async () => {
    await using opened = await open();
    const { callback } = opened;
    expect(callback.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const codes = expectAnswer(callback);
    const address = `${callback.redirectUri}?state=${state}&code=c1`;
    const [one, other] = await Promise.all([knock(address), knock(address)]);
    expect(new Set([one.status, other.status])).toEqual(new Set([200, 400]));
    expect((await knock(address)).status).toBe(400);
    expect(codes).toEqual(["c1"]);
    expect(callback.strayAnswers).toBe(2);
  });

  it("G6: shows text as text, on a page that runs nothing and tells nobody its address", async () => {
    await using opened = await open();
    const { callback } = opened;
    expectAnswer(callback);
    const { text, headers } = await knock(`${callback.redirectUri}?state=${state}`);
    expect(text).toContain("app: done &lt;b&gt;&amp;amp;");
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'") as string,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

  it.each([
    ["no state", "?code=c", {}, 400],
    ["an empty state", "?code=c&state=", {}, 400],
    ["another state", "?code=c&state=other", {}, 400],
    ["a state that only begins alike", `?code=c&state=${state}x`, {}, 400],
    ["two states", `?code=c&state=${state}&state=${state}`, {}, 400],
    ["another path", `/more?code=c&state=${state}`, {}, 404],
    ["a POST", `?code=c&state=${state}`, { method: "POST" }, 405],
    ["a foreign Host", `?code=c&state=${state}`, { host: "evil.example.com" }, undefined],
  ])("G11: refuses %s", async (_title, rest, options, expected) => {
    await using opened = await open();
    const { callback } = opened;
    const codes = expectAnswer(callback);
    const { status } = await knock(`${callback.redirectUri}${rest}`, options);
    if (expected !== undefined) expect(status).toBe(expected);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(codes).toEqual([]);
    // The right one still counts.
    await knock(`${callback.redirectUri}?code=right&state=${state}`);
    expect(codes).toEqual(["right"]);
  });

  it("G11: refuses every answer before a sign-in waits for one", async () => {
    await using opened = await open();
    const { callback } = opened;
    expect((await knock(`${callback.redirectUri}?code=c&state=`)).status).toBe(400);
  });

  it("G11: is another one when the port of an earlier sign-in is taken, and an error when it is fixed", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const earlier = `http://127.0.0.1:${port}/callback`;
    {
      await using opened = await open({ earlier });
      const { callback } = opened;
      expect(callback.redirectUri).not.toBe(earlier);
      expect(callback.isListening).toBe(true);
    }
    for (const fixed of [{ callbackPort: port }, { redirectUri: earlier }])
      await expect(open(fixed)).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("already in use") as string,
      });
    taken.close();
    await once(taken, "close");
    await using opened = await open({ earlier });
    const { callback } = opened;
    expect(callback.redirectUri).toBe(earlier);
  });
});

describe("an address that is pasted", () => {
  const redirectUri = "https://elsewhere.example.com/back";

  it("AUT-04: is read where nobody here can wait", async () => {
    await using opened = await open({ redirectUri });
    const { callback } = opened;
    expect(callback.isListening).toBe(false);
    const answer = callback.parse(` ${redirectUri}?state=${state}&code=c1\n`, state);
    expect(answer.get("code")).toBe("c1");
  });

  it.each([
    ["no address", "c1"],
    ["another host", `https://evil.example.com/back?state=${state}&code=c1`],
    ["another path", `https://elsewhere.example.com/?state=${state}&code=c1`],
    ["another sign-in", `${redirectUri}?state=other&code=c1`],
    ["no state", `${redirectUri}?code=c1`],
  ])("G11: of %s is refused, and not repeated", async (_title, pasted) => {
    await using opened = await open({ redirectUri });
    const { callback } = opened;
    const attempt = (): unknown => callback.parse(pasted, state);
    expect(attempt).toThrow(expect.objectContaining({ code: "auth_redirect_mismatch" }));
    expect(attempt).toThrow(/^(?!.*c1)/);
  });
});
