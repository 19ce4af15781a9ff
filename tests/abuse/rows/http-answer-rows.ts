import {
  allKinds,
  hostileHttpEntries,
  hostileHttpEntry,
  postKinds,
} from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import type { CallEnd, HttpKind, ServerEntries } from "../subject.ts";
import { fast, isHonest, makeCalls, type PlannedCall, plannedCriteria } from "./planned-calls.ts";

const redirects = [301, 302, 303, 307, 308];
const apiKey = "canary-key-7f3a";

function waits(retryAfterMs: number | undefined): (end: CallEnd) => boolean {
  return ({ details }) => details["retryable"] === true && details["retryAfterMs"] === retryAfterMs;
}

const busy: readonly PlannedCall[] = [
  { args: { status: 429, retry: 2 }, ends: "http_error", isRight: waits(2_000) },
  { args: { status: 429, retry: 1e9 }, ends: "http_error", isRight: waits(300_000) },
  { args: { status: 429, retry: "soon" }, ends: "http_error", isRight: waits(undefined) },
  { args: { status: 503 }, ends: "http_error", isRight: waits(undefined) },
];

/** Seven, in the order of the server's moods. */
const moods: readonly PlannedCall[] = [
  { ends: "ok", isRight: isHonest },
  { ends: "http_error", isRight: waits(1_000) },
  { ends: "http_error", isRight: waits(1_000) },
  { ends: "http_error" },
  { ends: "http_error" },
  { ends: "ok", isRight: isHonest },
  { ends: "http_error" },
];

const shouldNotTell = ({ message }: CallEnd): boolean => !message.includes("canary");

const answered = {
  counts: { short: 1, normal: 20, long: 200, stock: 2 },
  criteria: [fast, ...plannedCriteria],
} as const;

function leadAway(
  mode: string,
  transport: HttpKind,
  parameters: Readonly<Record<string, string>> = {},
): ServerEntries {
  const access = { transport, headers: { "x-api-key": apiKey } };
  const name = [mode, transport, ...Object.values(parameters)].join("-");
  return { [name]: hostileHttpEntry(mode, { parameters: { ...parameters, name }, access }) };
}

async function beLedAway(lab: Lab): Promise<Figures> {
  const figures = { "trap hits": 0, "wrong ends": 0, "requests per attempt": 0 };
  for (const name of lab.siteNames) {
    const before = await lab.site(name).report();
    for (let round = 0; round < lab.count; round += 1) {
      const { code } = await lab.call({ server: name, args: {} });
      if (code !== "http_error" && code !== "blocked_address") figures["wrong ends"] += 1;
    }
    const after = await lab.site(name).report();
    figures["trap hits"] += after.trapped;
    figures["requests per attempt"] = Math.max(
      figures["requests per attempt"],
      (after.requests - before.requests) / lab.count,
    );
  }
  return figures;
}

export const httpAnswerRows: readonly Row[] = [
  {
    ...answered,
    id: "F1",
    trigger: "status 429 retry=2, 503",
    expected: "http_error, retryable, when; not sent again",
    measured:
      "rounds of 4 calls; the wait told must be the server's, at most 5 min; calls received",
    servers: hostileHttpEntries("status", allKinds),
    attack: (lab) => makeCalls(lab, busy),
  },
  {
    ...answered,
    id: "F1",
    trigger: "flaky-status",
    expected: "each call gets what it got; not sent again",
    measured: "rounds of 7 calls: two fine, five of 429, 500, 502, 503, 504; calls received",
    servers: hostileHttpEntries("flaky-status", allKinds),
    attack: (lab) => makeCalls(lab, moods),
  },
  {
    ...answered,
    id: "F5",
    trigger: "huge-headers",
    expected: "typed error, fast",
    measured: "one header of 64 KB, one of 4 MB, 20,000 small ones; errors that nobody caught",
    criteria: [{ figure: "crashes", atMost: 0 }, ...answered.criteria],
    servers: hostileHttpEntries("huge-headers", allKinds),
    attack: (lab) =>
      makeCalls(lab, [
        { args: { bytes: 65_536 }, ends: "too_large" },
        { args: { bytes: 4_000_000 }, ends: "too_large" },
        { args: { bytes: 200_000, n: 20_000 }, ends: "too_large" },
      ]),
  },
  {
    ...answered,
    id: "F5",
    trigger: "wrong-content-type",
    expected: "typed error, fast",
    measured: "the right answer under five types that are none of JSON and event stream",
    criteria: [{ figure: "crashes", atMost: 0 }, ...answered.criteria],
    servers: hostileHttpEntries("wrong-content-type", postKinds),
    attack: (lab) =>
      makeCalls(
        lab,
        ["text/plain", "text/html", "application/octet-stream", "", ";;;"].map((type) => ({
          args: { type },
          ends: "http_error",
        })),
      ),
  },
  {
    ...answered,
    id: "F5",
    trigger: "html-200",
    expected: "typed error, fast",
    measured: "a page as what it is, as JSON and as a stream",
    criteria: [{ figure: "crashes", atMost: 0 }, ...answered.criteria],
    servers: hostileHttpEntries("html-200", postKinds),
    attack: (lab) =>
      makeCalls(lab, [
        { args: { type: "text/html" }, ends: "http_error" },
        { args: { type: "application/json" }, ends: "protocol_violation" },
        { args: { type: "text/event-stream" }, ends: "connection_lost" },
      ]),
  },
  {
    ...answered,
    id: "F6",
    trigger: "redirect 301..308 with an API key",
    expected: "not followed",
    measured: "to another origin and to another path, whose requests count; text of the errors",
    criteria: [{ figure: "trap hits", atMost: 0 }, ...answered.criteria],
    servers: hostileHttpEntries("redirect", allKinds, {
      access: { headers: { "x-api-key": apiKey } },
    }),
    attack: (lab) =>
      makeCalls(
        lab,
        redirects.flatMap((status) =>
          ["origin", "path"].map((where) => ({
            args: { status, where },
            ends: "http_error",
            isRight: shouldNotTell,
          })),
        ),
      ),
  },
  {
    ...answered,
    id: "F6",
    trigger: "redirect-loop",
    expected: "not followed",
    measured: "calls received",
    servers: hostileHttpEntries("redirect-loop", allKinds),
    attack: (lab) => makeCalls(lab, [{ ends: "http_error" }]),
  },
  {
    id: "F6",
    trigger: "redirect-get; evil-endpoint",
    expected: "not followed out of the origin, nor for ever",
    measured:
      "connections with an API key: GETs led elsewhere and in circles, messages sent elsewhere",
    criteria: [
      { figure: "trap hits", atMost: 0 },
      { figure: "wrong ends", atMost: 0 },
      { figure: "requests per attempt", atMost: 4 },
    ],
    servers: {
      ...leadAway("redirect-get", "sse"),
      ...leadAway("redirect-get", "rest"),
      ...leadAway("evil-endpoint", "sse"),
      ...leadAway("redirect-get", "sse", { where: "circle" }),
      ...leadAway("redirect-get", "rest", { where: "circle" }),
    },
    counts: { short: 1, normal: 20, long: 200 },
    attack: beLedAway,
  },
];
