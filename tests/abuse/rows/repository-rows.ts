import { mkdirSync } from "node:fs";
import path from "node:path";

import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { Repository } from "../repository.ts";
import { type Figures, type Row, zero } from "../row.ts";

/** Where the host is started, below the repository. */
const folders = [".", "packages/one"] as const;

async function runOwnPackages(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    starts: 0,
    "not tried": 0,
    "repository code run": 0,
    "own code not run": 0,
    "asked of its registry": 0,
  };
  for (let round = 0; round < lab.count; round += 1)
    for (const folder of lab.form === "short" ? folders.slice(1) : folders) {
      using project = new Project();
      await using repository = await Repository.make(project);
      mkdirSync(path.join(project.cwd, ".git"));
      const cwd = path.join(project.cwd, folder);
      mkdirSync(cwd, { recursive: true });
      for (const { entry, isThere } of Object.values(repository.tricks)) {
        if (!isThere) {
          figures["not tried"] += 1;
          continue;
        }
        project.writeForUser({ file: entry });
        await using host = await project.open(product, { cwd, env: repository.env });
        await host.add("store", entry);
        for (const server of ["file", "store"]) {
          figures.starts += 1;
          // None of them is a server: what counts is who wrote into the diary.
          await host.connect(server).catch(() => undefined);
          const ran = repository.ran();
          if (ran.includes("repository")) figures["repository code run"] += 1;
          if (!ran.includes("user")) figures["own code not run"] += 1;
        }
        await host.remove("store");
      }
      figures["asked of its registry"] += repository.askedOfRepository.length;
    }
  return figures;
}

export const repositoryRows: readonly Row[] = [
  {
    id: "L1",
    trigger:
      "the user's own npx, bunx, uvx, python -m and PATH entries in a repository that holds programs of the same names, and an .npmrc",
    expected: "the user's package runs, none of the repository",
    measured:
      "six entries, in the user's file and in the store, from the root of the repository and from a folder of it; each copy writes down whose it is",
    criteria: zero("repository code run", "own code not run", "asked of its registry"),
    servers: {},
    // npm takes the processor for seconds.
    isBusy: true,
    counts: { short: 1, normal: 2, long: 10 },
    attack: runOwnPackages,
  },
];
