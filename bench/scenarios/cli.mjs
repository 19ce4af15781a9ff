import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only, peers } from "./variants.mjs";

const knownCount = 100;

/** @param {string} name @param {string} client a name in `command-lines.mjs` */
const onThisNode = (name, client = name) => ({ name, options: { client } });
/** @param {string} name @param {string} client a name in `command-lines.mjs` */
const onNewerNode = (name, client = name) => ({ name, options: { client, newer: true } });

const bare = onThisNode("node -e 0", "node");
const newerBare = onNewerNode("newer node -e 0", "node");
const oneReply = onThisNode("one reply", "one-reply");
const bareSdk = onThisNode("bare v2", "sdk-v2");
const plugboard = onThisNode("plugboard");
const newerPlugboard = onNewerNode("plugboard, newer node", "plugboard");
const mcporter = onNewerNode("mcporter");
const inspector = onNewerNode("inspector");
const readyVariants = [...only("floor", "bare v2"), ...peers, ...only("plugboard")];

/**
 * @param {import("../programs/command-lines.mjs").Task} task
 * @param {string} title
 * @param {readonly import("./scenario.mjs").Variant[]} variants beside Plugboard and bare Node
 */
const command = (task, title, variants) => ({
  name: task,
  title,
  measure: "command",
  options: { task },
  variants: [bare, plugboard, newerBare, newerPlugboard, ...variants],
});

/** What a person waits for at a prompt, and a program until it has tools to offer. */
export const cli = defineScenario({
  name: "cli",
  metrics: [
    { key: "cpuMs", title: "CPU ms", better: "lower", digits: 0 },
    { key: "wallMs", title: "ms", better: "lower", digits: 0 },
    { key: "aboveBareMs", title: "ms above bare", better: "lower", digits: 0, unit: "ms" },
    { key: "readyCpuMs", title: "ready CPU ms", better: "lower", digits: 0 },
    { key: "readyMs", title: "ready ms", better: "lower", digits: 0 },
    { key: "importedReadyMs", title: "from import ms", better: "lower", digits: 0 },
    { key: "importCpuMs", title: "import CPU ms", better: "lower", digits: 1, unit: "ms" },
    { key: "createCpuMs", title: "create CPU ms", better: "lower", digits: 1, unit: "ms" },
    { key: "toolsCpuMs", title: "tools() CPU ms", better: "lower", digits: 1, unit: "ms" },
    {
      key: "startsWhenListed",
      title: "started when listed",
      better: "lower",
      digits: 0,
      isCompared: false,
    },
  ],
  references: [bare.name, newerBare.name, oneReply.name],
  paces: { full: {}, quick: {} },
  workloads: [
    command("version", "--version", [mcporter, inspector]),
    command("list", "list of one configured server, which is not started", [mcporter]),
    command("complete", "what a shell offers behind call, of a server whose tools are known", []),
    command(
      "remembered",
      "tools of a server as a command before has listed them; it is not started",
      [],
    ),
    command("tools", "tools of a server that is started for it", [
      oneReply,
      bareSdk,
      mcporter,
      inspector,
    ]),
    command("call", "call of a server that is started for it", [
      oneReply,
      bareSdk,
      mcporter,
      inspector,
    ]),
    {
      name: "resident",
      title: "call while a process keeps the server running: plugboard up, mcporter's daemon",
      measure: "command",
      options: { task: "resident" },
      variants: [plugboard, newerPlugboard, mcporter],
    },
    {
      name: "ready",
      title: "from the import of the library until the tools of a stdio server are listed",
      measure: "ready",
      options: {},
      variants: readyVariants,
    },
    {
      name: `known-${knownCount}`,
      title: `${knownCount} shell scripts whose tools a program before has listed`,
      measure: "warm-start",
      options: { servers: knownCount },
      variants: only("plugboard"),
    },
  ],
  budgets: ofPlugboard([
    ...[
      { variant: plugboard.name, against: [bare.name] },
      { variant: newerPlugboard.name, against: [newerBare.name] },
    ].flatMap((of) => [
      { id: "P5", workload: "version", metric: "cpuMs", atMost: 1.3, ...of },
      { id: "P5", workload: "list", metric: "cpuMs", atMost: 2, ...of },
      { id: "P5", workload: "complete", metric: "cpuMs", atMost: 2, ...of },
    ]),
    { id: "P5", workload: "tools", metric: "wallMs", against: [oneReply.name], atMost: 1.25 },
    { id: "P5", workload: "tools", metric: "wallMs", against: [bareSdk.name], atMost: 0.4 },
    ...["cpuMs", "wallMs"].map((metric) => ({
      id: "P5",
      workload: "call",
      variant: newerPlugboard.name,
      metric,
      against: [mcporter.name],
      atMost: 0.5,
    })),
    ...[plugboard.name, newerPlugboard.name].map((variant) => ({
      id: "P5",
      workload: "resident",
      variant,
      metric: "aboveBareMs",
      against: [],
      atMost: 100,
    })),
    ...["cpuMs", "wallMs"].map((metric) => ({
      id: "P5",
      workload: "resident",
      variant: newerPlugboard.name,
      metric,
      against: [mcporter.name],
      atMost: 0.5,
    })),
    // CPU time of the client alone: the start of the server takes everybody the same time.
    {
      id: "P13",
      workload: "ready",
      metric: "readyCpuMs",
      against: peers.map(({ name }) => name),
      atMost: 0.4,
    },
    { id: "P15", workload: "known-100", metric: "importCpuMs", against: [], atMost: 20 },
    { id: "P15", workload: "known-100", metric: "createCpuMs", against: [], atMost: 30 },
    { id: "P15", workload: "known-100", metric: "toolsCpuMs", against: [], atMost: 10 },
    { id: "P15", workload: "known-100", metric: "startsWhenListed", against: [], atMost: 0 },
  ]),
});
