import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const name = "project";

/** Two folders with a program each, which writes down whose it is. */
function makePrograms({ cwd, home }: Project): { readonly good: string; readonly evil: string } {
  const [good, evil] = [path.join(cwd, "good"), path.join(cwd, "evil")];
  for (const [folder, whose] of [
    [good, "approved"],
    [evil, "other"],
  ] as const) {
    mkdirSync(folder);
    const note = `echo ${whose} >> "${path.join(home, "diary")}"\n`;
    writeFileSync(path.join(folder, "run"), `#!/bin/sh\n${note}`, { mode: 0o755 });
    writeFileSync(path.join(folder, "script.sh"), note);
  }
  return { good, evil };
}

function ran({ home }: Project): readonly string[] {
  const file = path.join(home, "diary");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Starts an approved server again and again while the link that its entry names is turned. */
async function startWhileTurning(
  product: Product,
  {
    starts,
    entry,
    link,
  }: { readonly starts: number; readonly entry: object; readonly link: string },
): Promise<{ readonly approved: number; readonly other: number }> {
  using project = new Project();
  const { good, evil } = makePrograms(project);
  const target = (folder: string): string => (link === "run" ? path.join(folder, "run") : folder);
  const place = path.join(project.cwd, link);
  symlinkSync(target(good), place);
  project.write({ [name]: { ...entry, reconnect: false } });
  await using host = await project.open(product);
  await host.approve(name);
  const program = path.join(import.meta.dirname, "..", "flip-link.mjs");
  const words = [program, place, target(evil), target(good)];
  const flipper = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await once(flipper.stdout, "data");
    for (let start = 0; start < starts; start += 1) await host.connect(name).catch(() => undefined);
  } finally {
    flipper.stdin.end();
    await once(flipper, "exit");
  }
  // Left alone, it starts: the race was for something.
  rmSync(place);
  symlinkSync(target(good), place);
  await host.connect(name).catch(() => undefined);
  const whose = ran(project);
  return {
    approved: whose.filter((it) => it === "approved").length,
    other: whose.filter((it) => it === "other").length,
  };
}

/** A link of the project to the user's own file: whether adding to the project changed it. */
async function writeThroughLink(product: Product): Promise<boolean> {
  using project = new Project();
  project.writeForUser({});
  const file = path.join(project.home, ".plugboard", "mcp.json");
  const before = readFileSync(file, "utf8");
  symlinkSync(file, project.file);
  await using host = await project.open(product);
  await host.add("more", { command: "true" }, { scope: "project" }).catch(() => undefined);
  return readFileSync(file, "utf8") !== before;
}

/** A user's file that another user can write: how many of its entries count. */
async function useForeignFile(product: Product, change: (file: string) => void): Promise<number> {
  using project = new Project();
  project.writeForUser({ mine: { command: "true" } });
  change(path.join(project.home, ".plugboard", "mcp.json"));
  await using host = await project.open(product);
  return host.servers().length;
}

/** Whether an edit went through beside a lock from tomorrow. */
async function editBesideFutureLock(product: Product): Promise<boolean> {
  using project = new Project();
  project.write({});
  writeFileSync(`${project.file}.lock`, "{}");
  const tomorrow = new Date(Date.now() + 86_400_000);
  utimesSync(`${project.file}.lock`, tomorrow, tomorrow);
  await using host = await project.open(product);
  return await host.add("more", { command: "true" }, { scope: "project" }).then(
    () => true,
    () => false,
  );
}

async function exchange(lab: Lab, product: Product): Promise<Figures> {
  const byFile = await startWhileTurning(product, {
    starts: lab.count,
    entry: { command: "./run" },
    link: "run",
  });
  const byFolder = await startWhileTurning(product, {
    starts: lab.count,
    entry: { command: "/bin/sh", args: ["script.sh"], cwd: "link" },
    link: "link",
  });
  const changes = [
    (file: string): void => chmodSync(file, 0o666),
    (file: string): void => chmodSync(path.dirname(file), 0o777),
    // Only root can give a file away.
    ...(process.geteuid?.() === 0 ? [(file: string): void => chownSync(file, 54_321, 0)] : []),
  ];
  let used = 0;
  for (const change of changes) used += await useForeignFile(product, change);
  return {
    starts: 2 * (lab.count + 1),
    "approved code run": byFile.approved + byFolder.approved,
    "other code run": byFile.other + byFolder.other,
    "never started": [byFile, byFolder].filter(({ approved }) => approved === 0).length,
    "written outside": Number(await writeThroughLink(product)),
    "foreign entries used": used,
    "edits refused": Number(!(await editBesideFutureLock(product))),
  };
}

export const exchangeRows: readonly Row[] = [
  {
    id: "L8",
    trigger:
      "command and cwd links turned without pause while the server starts; a link out of the project, a user file others can write, a lock from tomorrow",
    expected: "what was checked is started, or nothing",
    measured:
      "so many starts each for a command and a folder behind a link that another process turns; whose program wrote down that it ran",
    criteria: zero(
      "other code run",
      "never started",
      "written outside",
      "foreign entries used",
      "edits refused",
    ),
    servers: {},
    // The other process takes a processor for itself.
    isBusy: true,
    counts: { short: 20, normal: 200, long: 2_000 },
    attack: exchange,
  },
];
