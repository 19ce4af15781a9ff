import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../../config/parse/parse-config.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { ServerStatus } from "../host.ts";
import type { DoctorParts } from "./check.ts";
import { blamedCheck, connectionFindings } from "./connection-checks.ts";

const http = { transport: "streamable-http" };

function failure(code: ErrorCode, details: Readonly<Record<string, unknown>> = {}): McpError {
  return createError(code, "it failed", { details });
}

/** The findings of an attempt to reach `url`. */
function findingsAfter(error: McpError | undefined, url = "https://example.com/mcp") {
  const config = parseServerEntry("api", { url, headers: { Authorization: "Bearer ${T}" } });
  const status = { name: "api", config, transport: "http" } as unknown as ServerStatus;
  const parts = { machine: { hostEnv: {} } } as unknown as DoctorParts;
  return [...connectionFindings({ status, error, elapsedMs: 1 }, parts)];
}

/** The checks and verdicts that it answers. */
function verdictsAfter(error: McpError | undefined, url?: string): string[] {
  return findingsAfter(error, url).map(([id, { verdict }]) => `${id} ${verdict}`);
}

function fixOf(error: McpError): string | undefined {
  return findingsAfter(error).at(-1)?.[1].fix;
}

describe("a failure to connect", () => {
  it.each<[ErrorCode, Readonly<Record<string, unknown>>, string]>([
    ["command_not_found", { transport: "stdio" }, "command"],
    ["variable_unset", {}, "variables"],
    ["blocked_address", http, "address"],
    ["unreachable", { ...http, errorCode: "ECONNREFUSED" }, "reachable"],
    ["unreachable", { ...http, errorCode: "ENOTFOUND" }, "reachable"],
    ["unreachable", { ...http, errorCode: "CERT_HAS_EXPIRED" }, "tls"],
    ["unreachable", { ...http, errorCode: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "tls"],
    ["unreachable", { ...http, errorCode: "ERR_SSL_WRONG_VERSION_NUMBER" }, "tls"],
    ["unreachable", { ...http, proxy: "proxy:3128" }, "proxy"],
    ["unreachable", { transport: "stdio" }, "answers"],
    ["auth_required", { ...http, status: 401 }, "auth"],
    ["auth_failed", { ...http, status: 401 }, "auth"],
    ["start_exit", { transport: "stdio" }, "answers"],
    ["start_timeout", http, "answers"],
    ["http_error", { ...http, status: 404 }, "answers"],
  ])("%s with %j is the answer to %s", (code, details, check) => {
    expect(blamedCheck(failure(code, details))).toBe(check);
  });

  it.each(["ENOTFOUND", "EAI_AGAIN"])(
    "is no matter of ports where a name is unknown: %s",
    (code) => {
      const error = failure("unreachable", { ...http, errorCode: code });
      expect(fixOf(error)).toMatch(/host|DNS/);
      expect(fixOf(error)).not.toMatch(/port|firewall|start the server/);
    },
  );

  it("leaves open what comes behind it, and what it does not show", () => {
    expect(verdictsAfter(undefined)).toEqual(["reachable ok", "tls ok", "auth ok", "answers ok"]);
    expect(verdictsAfter(failure("auth_failed", { ...http, status: 401 }))).toEqual([
      "reachable ok",
      "tls ok",
      "auth problem",
    ]);
    expect(verdictsAfter(failure("http_error", { ...http, status: 500 }), "http://e.com")).toEqual([
      "reachable ok",
      "auth ok",
      "answers problem",
    ]);
    // Nobody answered: whether the certificate is trusted is not known.
    expect(verdictsAfter(failure("start_timeout", http))).toEqual(["answers problem"]);
    expect(verdictsAfter(failure("auth_required"))).toEqual(["auth problem"]);
    expect(verdictsAfter(failure("unreachable", { ...http, errorCode: "EPROTO" }))).toEqual([
      "tls problem",
    ]);
  });
});
