import { inspectSchema, type SchemaLimits, type SchemaReport } from "./schema-guard.ts";

/** Judges schemas without compiling them, for listings. `schema` must not change: its report is kept. */
export class SchemaReports {
  readonly #limits: SchemaLimits;
  readonly #known = new WeakMap<object, SchemaReport>();

  constructor(limits: SchemaLimits) {
    this.#limits = limits;
  }

  of(schema: unknown): SchemaReport {
    if (typeof schema !== "object" || schema === null) return inspectSchema(schema, this.#limits);
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const report = inspectSchema(schema, this.#limits);
    this.#known.set(schema, report);
    return report;
  }
}
