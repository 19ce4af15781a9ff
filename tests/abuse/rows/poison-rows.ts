import {
  aiSdkTools,
  anthropicTools,
  openAiResponsesTools,
  openAiTools,
} from "../../../src/adapters/index.ts";
import type { McpHost } from "../../../src/index.ts";
import { runCommand } from "../command-line.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const poisoned = 8;
/** Words of the poison, and the letters of the one that is invisible. */
const poison = /id_rsa|do not tell|[\u{E0000}-\u{E007F}]/u;
const unseen = /[\u{E0000}-\u{E007F}]/u;

/** Whatever a model could be given by the host, as text. */
async function offeredTo(host: McpHost): Promise<readonly string[]> {
  const session = host.session({ level: "yolo" });
  const section = session.section({ servers: [server] });
  await session.ready();
  await section.connect();
  return [
    JSON.stringify(session.tools()),
    JSON.stringify(section.tools()),
    section.render(),
    JSON.stringify(await anthropicTools(session)),
    JSON.stringify(await openAiTools(session)),
    JSON.stringify(await openAiResponsesTools(session)),
    JSON.stringify(await aiSdkTools(session)),
    JSON.stringify(host.session({ level: "trusted" }).tools()),
  ];
}

async function poisonDescriptions(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "sent before approval": 0,
    "calls before approval": 0,
    "not set aside": 0,
    "not explained": 0,
    "raw in the question": 0,
    "not marked in the command line": 0,
    "not usable when accepted": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    project.writeForUser({ [server]: hostileEntry("poisoned-description") });
    await using host = await project.open(product);
    const texts = await offeredTo(host);
    figures["sent before approval"] += texts.filter((text) => poison.test(text)).length;
    const waiting = await host.pins.list(server);
    figures["not set aside"] += poisoned - waiting.length;
    figures["not explained"] += waiting.filter(({ findings }) => findings.length === 0).length;
    figures["raw in the question"] += Number(unseen.test(JSON.stringify(waiting)));
    const session = host.session({ level: "yolo" });
    for (const { tool } of waiting)
      if ((await session.call(`mcp__${server}__${tool}`, {})).ok)
        figures["calls before approval"] += 1;
    if (round === 0) {
      const listed = await runCommand(project, ["tools", server, "--schema"]);
      const checked = await runCommand(project, ["list", "--check"]);
      const written = [listed, checked].map(({ stdout, stderr }) => stdout + stderr);
      figures["sent before approval"] += written.filter((text) => poison.test(text)).length;
      if (!checked.stdout.includes("▲")) figures["not marked in the command line"] += 1;
    }
    for (const { tool } of waiting) {
      const whole = await host.pins.show(server, tool);
      await host.pins.accept(server, tool, whole?.fingerprint ?? "");
    }
    figures["not usable when accepted"] += poisoned + 2 - session.tools().length;
  }
  return figures;
}

export const poisonRows: readonly Row[] = [
  {
    id: "D9",
    trigger: "poisoned-description",
    expected: "set aside with the reason, and in nothing a model is given",
    measured: `${poisoned} places of a definition; lists and sections of sessions, four adapters, the command line; then a person accepts them`,
    criteria: zero(
      "sent before approval",
      "calls before approval",
      "not set aside",
      "not explained",
      "raw in the question",
      "not marked in the command line",
      "not usable when accepted",
    ),
    servers: {},
    ownModes: ["poisoned-description"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: poisonDescriptions,
  },
];
