import { describe, expect, it } from "vitest";

import { revealAll } from "../../text/secrets/secret-text.ts";
import { parseConfig, parseServerEntry } from "./parse-config.ts";
import { toJson } from "./to-json.ts";

describe("toJson", () => {
  it("CFG-46: what is left out or default is not written", () => {
    expect(toJson(parseServerEntry("s", { command: "run" }))).toEqual({
      name: "s",
      command: "run",
    });
    expect(toJson(parseServerEntry("s", { url: "https://h.example" }))).toEqual({
      name: "s",
      url: "https://h.example",
    });
    expect(toJson(parseServerEntry("s", { enabled: false }))).toEqual({
      name: "s",
      enabled: false,
    });
  });

  it("CFG-46: what says something is written, in the units and names of files", () => {
    const entry = {
      transport: "sse",
      url: "https://h.example/sse",
      messageEndpoint: "derive",
      timeout: 2.5,
      enabledTools: [],
      disabledTools: ["x"],
      reconnect: false,
      maxReconnectAttempts: 0,
      naming: "prefix_tool",
      toolPrefix: "p",
      start: "eager",
    };
    expect(toJson(parseServerEntry("s", entry))).toEqual({ name: "s", ...entry });
    const isolated = { command: "x", isolation: {}, connectTimeout: 1, callTimeout: 2 };
    expect(toJson(parseServerEntry("s", isolated))).toEqual({ name: "s", ...isolated });
  });

  const secretive = {
    stdio: {
      command: "run",
      args: ["--token", "canary-arg", "--port", "80"],
      env: { LITERAL: "canary-env", REF: "${TOKEN}", FALLBACK: "${X:-canary-default}" },
    },
    http: {
      url: "https://h.example/?apiKey=canary-url",
      headers: { "X-Key": "canary-header", Ref: "Bearer ${TOKEN}" },
    },
    bearer: { url: "https://h.example", auth: { type: "bearer", token: "canary-token" } },
    oauth: {
      url: "https://h.example",
      auth: {
        type: "oauth",
        clientId: "id",
        clientSecret: "canary-secret",
        privateKey: "canary-key",
      },
    },
  };

  it("CFG-46 ENV-12: secrets are left out, references stay", () => {
    const written = Object.entries(secretive).map(([name, entry]) =>
      toJson(parseServerEntry(name, entry)),
    );
    expect(JSON.stringify(written)).not.toContain("canary");
    expect(written).toMatchObject([
      { env: { REF: "${TOKEN}" }, args: ["--token", "[redacted]", "--port", "80"] },
      { headers: { Ref: "Bearer ${TOKEN}" } },
      { name: "bearer" },
      { auth: { type: "oauth", clientId: "id" } },
    ]);
    expect(written[2]).not.toHaveProperty("auth");
    expect(parseConfig(written).problems.filter(({ severity }) => severity === "error")).toEqual(
      [],
    );
  });

  it("CFG-46 ENV-12: masked, one sees that there is a secret", () => {
    const [stdio, http, bearer, oauth] = Object.entries(secretive).map(([name, entry]) =>
      toJson(parseServerEntry(name, entry), { secrets: "mask" }),
    );
    expect(JSON.stringify([stdio, http, bearer, oauth])).not.toContain("canary");
    expect(stdio).toMatchObject({ env: { LITERAL: "[redacted]", REF: "${TOKEN}" } });
    expect(http).toMatchObject({ headers: { "X-Key": "[redacted]" } });
    expect(bearer).toMatchObject({ auth: { token: "[redacted]" } });
    expect(oauth).toMatchObject({ auth: { clientSecret: "[redacted]" } });
  });

  it("CFG-46: kept, everything survives", () => {
    for (const [name, entry] of Object.entries(secretive)) {
      const config = parseServerEntry(name, entry);
      expect(revealAll(parseConfig(toJson(config, { secrets: "keep" })).servers)).toEqual([
        revealAll(config),
      ]);
    }
  });
});
