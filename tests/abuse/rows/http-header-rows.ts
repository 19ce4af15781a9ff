import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const refused = ["line_break", "colon", "twice", "object"];
const values = ["plain", "a\r\nX-Injected: 1", "caf\u00E9", "Bearer of-somebody", " blanks ", ""];

interface Seen {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function declareHeaders(lab: Lab): Promise<Figures> {
  const figures = { "bad ones called": 0, "good ones lost": 0, "headers missing": 0 };
  for (let round = 0; round < lab.count; round += 1) {
    for (const tool of refused)
      if ((await lab.call({ server, tool, args: { value: "x" } })).code !== "tool_unknown")
        figures["bad ones called"] += 1;
    for (const [tool, header] of Object.entries({ good: "tenant", auth: "authorization" }))
      for (const value of values) {
        const { ok, structured } = await lab.call({ server, tool, args: { value } });
        if (!ok) figures["good ones lost"] += 1;
        const { headers = {} } = (structured ?? {}) as Partial<Seen>;
        if (headers[`mcp-param-${header}`] === undefined) figures["headers missing"] += 1;
      }
  }
  const { counts = {} } = await lab.site(server).report();
  return {
    ...figures,
    "X-Injected seen": counts["injected"] ?? 0,
    "changed Authorization seen": counts["authorization"] ?? 0,
    "as Mcp-Param-Authorization": counts["param authorization"] ?? 0,
  };
}

export const httpHeaderRows: readonly Row[] = [
  {
    id: "D20",
    trigger: "bad-header-schema",
    expected: "four refused; the others' headers only as Mcp-Param-…",
    measured: `six tools that declare headers for their argument, ${values.length} values for each; the headers of every request as the server got them`,
    criteria: zero(
      "bad ones called",
      "good ones lost",
      "headers missing",
      "X-Injected seen",
      "changed Authorization seen",
    ),
    servers: {
      [server]: hostileHttpEntry("bad-header-schema", {
        access: { headers: { Authorization: "Bearer of-the-entry" } },
      }),
    },
    counts: { short: 1, normal: 20, long: 200 },
    attack: declareHeaders,
  },
];
