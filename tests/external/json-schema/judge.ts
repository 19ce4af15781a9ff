import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft6 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };

import { createValidator } from "../../../src/schema/validate/validator.ts";
import type { Draft, SuiteGroup } from "./suite.ts";

type Accepts = (value: unknown) => boolean | Promise<boolean>;

/** Gives a verdict on values, or says why the schema is refused. */
type Judge = { readonly refusal: string } | { readonly accepts: Accepts };

export interface Tally {
  right: number;
  refused: number;
  /** The cases whose verdict is not the one of the suite. */
  readonly wrong: string[];
  /** The groups whose schema is refused, by reason. */
  readonly refusals: Map<string, string[]>;
}

/** Compares the verdicts of one engine with those of the suite. */
export async function judgeGroups(
  groups: readonly SuiteGroup[],
  engine: (schema: unknown) => Judge,
): Promise<Tally> {
  const tally: Tally = { right: 0, refused: 0, wrong: [], refusals: new Map() };
  for (const { file, description, schema, tests } of groups) {
    const title = `${file}: ${description}`;
    const judge = engine(schema);
    if ("refusal" in judge) {
      tally.refused += tests.length;
      const titles = tally.refusals.get(judge.refusal) ?? [];
      tally.refusals.set(judge.refusal, [...titles, title]);
      continue;
    }
    for (const { description: value, data, valid } of tests) {
      const verdict = await verdictOf(judge.accepts, data);
      if (verdict === valid) tally.right += 1;
      else tally.wrong.push(`${title}: ${value}: valid is ${verdict}, not ${valid}`);
    }
  }
  return tally;
}

async function verdictOf(accepts: Accepts, value: unknown): Promise<boolean | string> {
  try {
    return await accepts(value);
  } catch (error) {
    return String(error);
  }
}

/** Reasons for a refusal, each with the words that every message for it contains. */
const refusals: Readonly<Record<string, string>> = {
  "remote reference": "which is outside of it and is never fetched",
  "unsupported dialect": "a dialect that is not supported",
  "dynamic reference": "it uses $dynamicRef across several embedded schemas",
  "recursive reference": "it uses $recursiveRef across several embedded schemas",
};

export function judgeByPlugboard(schema: unknown): Judge {
  const validator = createValidator(schema);
  const { report } = validator;
  if (report.kind === "refused") {
    const known = Object.entries(refusals).find(([, words]) => report.reason.includes(words));
    return { refusal: known?.[0] ?? report.reason };
  }
  return {
    accepts: async (value) => {
      const failure = await validator.validate(value);
      if (failure?.kind === "unchecked") throw new Error(`no verdict: ${failure.message}`);
      return failure === undefined;
    },
  };
}

/** Ajv under the same terms: nothing is fetched, own properties count, formats are annotations. */
export function judgeByAjv(draft: Exclude<Draft, "draft4">): (schema: unknown) => Judge {
  const engines = { "draft2020-12": Ajv2020, "draft2019-09": Ajv2019, draft7: Ajv, draft6: Ajv };
  const options = { strict: false, validateFormats: false, ownProperties: true, logger: false };
  return (schema) => {
    // A fresh instance for each schema, because Ajv answers by `$id`.
    const ajv = new engines[draft](options as { logger: false });
    if (draft === "draft6") ajv.addMetaSchema(draft6);
    try {
      const validate = ajv.compile(schema as object);
      return { accepts: (value) => validate(value) };
    } catch (error) {
      return { refusal: String(error) };
    }
  };
}
