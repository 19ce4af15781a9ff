import { describe, expect, it } from "vitest";

import { resolveLimits } from "./limits.ts";

const kib = 1_024;
const mib = 1_024 * 1_024;

describe("limits", () => {
  it("§7: every default is what the documentation promises", () => {
    expect(resolveLimits()).toMatchObject({
      callTimeoutMs: 30_000,
      connectTimeoutMs: 30_000,
      packageRunnerConnectTimeoutMs: 120_000,
      totalCallTimeoutMs: 600_000,
      idleStopMs: 0,
      stopGraceMs: 5_000,
      stopTermAfterMs: 1_000,
      maxMessageBytes: 10 * mib,
      maxResultBytes: 10 * mib,
      maxStateBytes: 10 * mib,
      maxJsonDepth: 200,
      maxJsonValues: 1_000_000,
      maxSchemaBytes: 256 * kib,
      maxSchemaDepth: 64,
      maxSchemaNodes: 10_000,
      schemaTimeoutMs: 250,
      maxTools: 5_000,
      maxPages: 64,
      listTimeoutMs: 30_000,
      contentListTimeoutMs: 5_000,
      maxUnhandledNotifications: 100,
      maxNotificationsPerSecond: 200,
      notificationBurst: 1_000,
      maxStderrBytes: 256 * kib,
      maxServerLogBytes: 2 * mib,
      maxInputRounds: 8,
      oauthDocumentBytes: 256 * kib,
      oauthTimeoutMs: 10_000,
      maxTtlMs: 3_600_000,
      proofOfLifeMs: 10_000,
    });
  });

  it("single values are replaced, and undefined replaces nothing", () => {
    const limits = resolveLimits({ callTimeoutMs: 5, maxPages: undefined as never });
    expect(limits).toStrictEqual({ ...resolveLimits(), callTimeoutMs: 5 });
    expect(Object.isFrozen(limits)).toBe(true);
  });
});
