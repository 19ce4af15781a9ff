import { describe, expect, it } from "vitest";

import { ProtectedPlace } from "./protected-place.ts";
import { normalize, type RunOptions } from "./run-cli.ts";

interface Finding {
  readonly check: string;
  readonly verdict: string;
  readonly evidence: string;
  readonly fix?: string;
  readonly code?: string;
}

/** What the doctor finds of `app`, by check. */
async function findings(
  { sandbox }: ProtectedPlace,
  options: RunOptions = {},
): Promise<Readonly<Record<string, Finding>>> {
  const { stdout } = await sandbox.run(["doctor", "app", "--json"], options);
  const { reports } = JSON.parse(normalize(stdout)) as {
    readonly reports: readonly { readonly findings: readonly Finding[] }[];
  };
  const all = reports.flatMap((report) => report.findings);
  return Object.fromEntries(all.map((finding) => [finding.check, finding]));
}

describe("plugboard doctor, of a server that wants a sign-in", () => {
  it("AUT-09 DOC-01: shows before the sign-in where the browser returns, and that the issuer answers", async () => {
    const place = await ProtectedPlace.open();
    expect(await findings(place)).toMatchObject({
      auth: {
        verdict: "problem",
        code: "auth_required",
        fix: expect.stringContaining("plugboard login app") as unknown,
      },
      issuer: { verdict: "ok", evidence: "127.0.0.1:<port> answers" },
      redirect: {
        verdict: "ok",
        evidence:
          "it returns to http://127.0.0.1:*/callback, with a port that is chosen at each sign-in",
      },
      clock: { verdict: "ok" },
    });
    // Nothing was registered, and nobody was asked.
    expect(place.auth.counts).toMatchObject({ authorize: 0, register: 0 });
  });

  it("AUT-06 AUT-07: tells who is signed in, for how long, and what was not granted", async () => {
    const place = await ProtectedPlace.open({ scopes: ["mcp", "files"], grantedScopes: ["mcp"] });
    await place.login("--scope", "files", "--scope", "mcp");
    const found = await findings(place);
    expect(found).toMatchObject({
      auth: { verdict: "ok" },
      client: {
        verdict: "ok",
        evidence: "127.0.0.1:<port> accepts the client that was registered",
      },
      redirect: { verdict: "ok", evidence: expect.stringContaining("exactly so") as unknown },
      "sign-in": {
        verdict: "warning",
        fix: expect.stringContaining("login app --force") as unknown,
      },
    });
    expect(found["sign-in"]?.evidence).toMatch(
      /token 0 min old, ends in 60 min, renewed by itself, granted: mcp, not granted: files$/,
    );
    expect(JSON.stringify(found)).not.toContain(place.token);
    // The sign-in works as before.
    expect(await place.sandbox.run(["call", "app.echo", "message=hi"])).toMatchObject({
      stdout: "hi\n",
    });
  });

  it("AUT-09: tells a client that is not known from a token endpoint that is away", async () => {
    const auth = { type: "oauth", clientId: "mine", clientSecret: "${SECRET}" };
    const client = { clientId: "mine", clientSecret: "right-secret" };
    const place = await ProtectedPlace.open(
      { registration: "none", clients: [client] },
      {},
      { auth },
    );
    const right = await findings(place, { env: { SECRET: "right-secret" } });
    expect(right).toMatchObject({
      client: { verdict: "ok", evidence: "127.0.0.1:<port> accepts the client of the entry" },
    });
    const wrong = await findings(place, { env: { SECRET: "wrong-secret" } });
    expect(wrong).toMatchObject({ client: { verdict: "problem", code: "auth_client_rejected" } });
    expect(JSON.stringify(wrong)).not.toContain("wrong-secret");
    await place.auth.close();
    expect(await findings(place, { env: { SECRET: "right-secret" } })).toMatchObject({
      issuer: { verdict: "problem", code: "auth_endpoint_unreachable" },
    });
  });

  it("AUT-08: says where secrets are held", async () => {
    const place = await ProtectedPlace.open();
    await place.login();
    const { stdout } = await place.sandbox.run(["doctor", "--json"]);
    expect(stdout).toMatch(/"check":"secrets",[^}]*"evidence":"sealed; the key is in /);
    const env = { PLUGBOARD_SECRET_KEY: "ab".repeat(32) };
    const other = await ProtectedPlace.open();
    await other.sandbox.run(["login", "app", "--token", "-"], { env, input: "token" });
    const lost = await other.sandbox.run(["doctor", "--json"]);
    expect(lost.stdout).toMatch(/"check":"secrets",[^}]*"verdict":"problem"/);
  });
});
