import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { bundleProgram } from "../../../scripts/bundle-program.mjs";
import { hasOpenssl, startSelfSigned } from "../../../tests/fixtures/network/self-signed.ts";
import { sendRequest } from "../../../tests/fixtures/network/send-request.ts";
import { TestProxy } from "../../../tests/fixtures/network/test-proxy.ts";
import { TrapServer } from "../../../tests/fixtures/network/trap-server.ts";
import type { Environment } from "../../config/variables/reference-values.ts";
import { createError } from "../../errors/families.ts";
import { chooseProxy } from "./choose-proxy.ts";
import { loadGuardedPools } from "./guarded-pools.ts";
import { configuredUrlPolicy } from "./network-policy.ts";

const reason = createError("closed", "the connection was closed");

/** One connection's worth of guarded access, with the proxy that `env` names. */
async function openPool(origin: string, env: Environment) {
  const proxy = chooseProxy(new URL(origin), env);
  const create = await loadGuardedPools(proxy);
  const policy = configuredUrlPolicy(origin, false);
  const pools = create({ origin, policy, connectTimeoutMs: 10_000 });
  const pool = pools.create({ pipelining: 1 });
  return {
    get: (headers?: string[]) => sendRequest(pool, origin, headers),
    pools,
    [Symbol.asyncDispose]: () => pools.destroy(reason),
  };
}

/** What a fresh process makes of `urls` with `env` added to its environment. */
async function fetchInChild(env: Environment, urls: readonly string[]): Promise<string[]> {
  const program = await bundleProgram("tests/fixtures/network/fetch-guarded.ts");
  const { PATH, HOME } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...urls], {
    env: { PATH, HOME, ...env },
  });
  return stdout.trim().split("\n");
}

describe("a proxy", () => {
  it("HTP-06: is asked for the whole URL of an http: target, which it resolves itself", async () => {
    await using trap = await TrapServer.start();
    await using proxy = await TestProxy.start(trap.port);
    const env = { HTTP_PROXY: `http://me:s3cret@${proxy.host}` };
    await using pool = await openPool("http://api.example:8080", env);
    expect(await pool.get(["x-own", "1"])).toEqual({ status: 200, text: "caught" });
    expect(proxy.requests).toEqual([
      {
        method: "GET",
        target: "http://api.example:8080/",
        host: "api.example:8080",
        authorization: `Basic ${Buffer.from("me:s3cret").toString("base64")}`,
      },
    ]);
    expect(trap.hosts).toEqual(["api.example:8080"]);
  });

  it("HTP-02: is passed by on the way to this machine", async () => {
    await using trap = await TrapServer.start();
    await using proxy = await TestProxy.start(trap.port);
    const env = { HTTP_PROXY: `http://${proxy.host}` };
    await using pool = await openPool(`http://localhost:${trap.port}`, env);
    expect((await pool.get()).text).toBe("caught");
    expect(proxy.requests).toEqual([]);
  });

  it.each([
    "http://10.0.0.1",
    "https://10.0.0.1",
    "http://169.254.169.254",
    "https://metadata.google.internal",
  ])("HTP-06: is not asked for what the policy forbids (%s)", async (origin) => {
    await using proxy = await TestProxy.start(9);
    const env = { ALL_PROXY: `http://${proxy.host}` };
    await expect(openPool(origin, env)).rejects.toMatchObject({ code: "blocked_address" });
    expect(proxy.requests).toEqual([]);
  });

  it.each([
    [403, "check HTTPS_PROXY; NO_PROXY lists what is reached without it"],
    [407, "put user name and password into HTTPS_PROXY"],
  ])("ERR-02: that refuses a tunnel with %i is told from the server", async (status, hint) => {
    await using proxy = await TestProxy.start(9);
    proxy.connectStatus = status;
    const env = { HTTPS_PROXY: `http://me:s3cret@${proxy.host}` };
    await using pool = await openPool("https://api.example", env);
    const error: unknown = await pool.get().catch((error: unknown) => error);
    expect(error).toMatchObject({
      code: "unreachable",
      message: `the proxy ${proxy.host} refused a tunnel to api.example:443 (HTTP ${status})`,
      hint,
    });
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });

  it("ERR-02: that speaks before it is asked is not trusted with the handshake", async () => {
    await using proxy = await TestProxy.start(9);
    proxy.earlyBytes = "surprise";
    await using pool = await openPool("https://api.example", { HTTPS_PROXY: proxy.host });
    await expect(pool.get()).rejects.toMatchObject({
      message: `the proxy ${proxy.host} does not keep to HTTP`,
    });
  });

  it.each(["http", "https"])(
    "ERR-02: that is not there is told from the server (%s:)",
    async (scheme) => {
      const closed = createServer().listen(0, "127.0.0.1");
      await once(closed, "listening");
      const { port } = closed.address() as AddressInfo;
      closed.close();
      await once(closed, "close");
      const env = { ALL_PROXY: `http://me:s3cret@127.0.0.1:${port}` };
      await using pool = await openPool(`${scheme}://api.example`, env);
      const error: unknown = await pool.get().catch((error: unknown) => error);
      expect(error).toMatchObject({
        code: "unreachable",
        message: `the proxy 127.0.0.1:${port} cannot be reached`,
        details: { errorCode: "ECONNREFUSED" },
      });
      expect(JSON.stringify(error)).not.toContain("s3cret");
    },
  );

  it("SHT-10: that never answers holds nothing once the pool is destroyed", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const pool = await openPool("https://api.example", { HTTPS_PROXY: `127.0.0.1:${port}` });
    const call = expect(pool.get()).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
    const [socket] = (await once(silent, "connection")) as [NodeJS.ReadableStream];
    socket.resume();
    const gone = once(socket, "close");
    await pool.pools.destroy(reason);
    await Promise.all([call, gone]);
    silent.close();
  });

  it.skipIf(!hasOpenssl)(
    "HTP-06: tunnels TLS to the target, with extra authorities from NODE_EXTRA_CA_CERTS",
    async () => {
      await using server = await startSelfSigned("api.example");
      await using proxy = await TestProxy.start(server.port);
      const urls = ["https://api.example/", `https://localhost:${server.port}/`];
      const env = { HTTPS_PROXY: `http://me:s3cret@${proxy.host}` };
      expect(await fetchInChild(env, urls)).toEqual([
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
      ]);
      const trusting = { ...env, NODE_EXTRA_CA_CERTS: server.certificateFile };
      expect(await fetchInChild(trusting, [...urls, "https://other.example/"])).toEqual([
        "200 over TLS",
        "200 over TLS",
        "ERR_TLS_CERT_ALTNAME_INVALID",
      ]);
      expect(server.names).toContain("api.example");
      expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
        "CONNECT api.example:443",
        "CONNECT api.example:443",
        "CONNECT other.example:443",
      ]);
      expect(new Set(proxy.requests.map(({ authorization }) => authorization))).toEqual(
        new Set([`Basic ${Buffer.from("me:s3cret").toString("base64")}`]),
      );
    },
  );

  it.skipIf(!hasOpenssl)("HTP-06: may itself be spoken to over TLS", async () => {
    await using server = await startSelfSigned("api.example");
    await using proxy = await TestProxy.start(server.port, server.credentials);
    const HTTPS_PROXY = `https://localhost:${proxy.port}`;
    const env = { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: server.certificateFile };
    expect(await fetchInChild(env, ["https://api.example/"])).toEqual(["200 over TLS"]);
    expect(proxy.requests).toMatchObject([{ method: "CONNECT", target: "api.example:443" }]);
  });
});
