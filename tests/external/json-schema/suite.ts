import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { findJsonSchemaSuite } from "../../../scripts/json-schema-suite.mjs";
import { isJsonObject } from "../../../src/text/json-object.ts";

/** Every draft that `src/schema` reads, by its folder in the suite, with the `$schema` that names it. */
export const drafts = {
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  draft7: "http://json-schema.org/draft-07/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft4: "http://json-schema.org/draft-04/schema#",
} as const;

export type Draft = keyof typeof drafts;

/** One schema of the suite with the values it judges. */
export interface SuiteGroup {
  /** Below the folder of the draft: `ref.json`, `optional/bignum.json`. */
  readonly file: string;
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

/** Optional parts of the suite about behaviour that Plugboard does not claim, with the reason. */
const notClaimed: readonly { readonly files: RegExp; readonly reason: string }[] = [
  { files: /^optional\/format\//, reason: "format is an annotation" },
  {
    files: /^optional\/content\.json$/,
    reason: "contentEncoding, contentMediaType are annotations",
  },
  {
    files: /^optional\/zeroTerminatedFloats\.json$/,
    reason: "1.0 and 1 are one number once parsed",
  },
];

export function reasonNotClaimed({ file }: SuiteGroup): string | undefined {
  return notClaimed.find(({ files }) => files.test(file))?.reason;
}

/** The suite that was fetched, and its commit; undefined where it could not be. */
export const suite = findJsonSchemaSuite();

/** Reads every group of one draft. Schemas that name no draft get its `$schema`, as older files need it. */
export function readGroups(draft: Draft): readonly SuiteGroup[] {
  const folder = path.join(suite?.folder ?? "", "tests", draft);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replaceAll(path.sep, "/"))
    .toSorted();
  return files.flatMap((file) => {
    const groups = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as SuiteGroup[];
    return groups.map((group) => ({ ...group, file, schema: withDraft(group.schema, draft) }));
  });
}

function withDraft(schema: unknown, draft: Draft): unknown {
  return isJsonObject(schema) ? { $schema: drafts[draft], ...schema } : schema;
}
