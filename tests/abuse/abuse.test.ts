import { describe, expect, it } from "vitest";

import { aiSdkTools } from "../../src/adapters/index.ts";
import { loadConfig, parseConfig } from "../../src/entries/config.ts";
import { createHost, createToolClient } from "../../src/index.ts";
import { MessageReader } from "../../src/transport/reading/message-reader.ts";
import { hostileEntry } from "./hostile/hostile-entry.ts";
import { httpModes } from "./hostile/http-modes.mjs";
import { modes } from "./hostile/modes.mjs";
import type { Product } from "./product.ts";
import { type Row, serversOf } from "./row.ts";
import { rows } from "./rows.ts";
import { decimalOf } from "./rows/decimal.ts";
import { runRow } from "./run-row.ts";

const product: Product = {
  createHost,
  createToolClient,
  loadConfig,
  parseConfig,
  aiSdkTools,
  MessageReader,
  healthyServer: hostileEntry("healthy", { lifeMs: 120_000 }),
};

describe("the attack table, in its short form", () => {
  const title = ({ id, trigger, expected }: Row) => `${id}: ${trigger}: ${expected}`;
  const held = rows.filter(({ knownGap }) => knownGap === undefined);
  const gaps = rows.filter(({ knownGap }) => knownGap !== undefined);

  it.each(held.map((row) => [title(row), row] as const))(
    "%s",
    async (_name, row) => {
      const { broken } = await runRow(row, "short", product);
      expect(broken).toEqual([]);
    },
    120_000,
  );

  it.each(gaps.map((row) => [title(row), row] as const))(
    "known gap, %s",
    async (_name, row) => {
      const { broken } = await runRow(row, "short", product);
      expect(broken).not.toEqual([]);
    },
    120_000,
  );

  it("decision 7: a row in which the loop may stand still for longer than 50 ms says why", () => {
    const allowances = rows.flatMap(({ stallAllowance }) => stallAllowance ?? []);
    for (const { atMostMs, reason } of allowances) {
      expect(atMostMs).toBeGreaterThan(50);
      expect(reason.split(" ").length).toBeGreaterThan(4);
    }
    // A new one is a decision, not a way to get a row to pass.
    expect(
      rows.flatMap(({ id, stallAllowance }) => (stallAllowance ? [id] : [])).toSorted(),
    ).toEqual(["A22", "A22", "D11", "G10", "G10", "G9", "G9", "G9", "G9", "I5", "I9", "K6", "L9"]);
  });

  it("TST-07: uses every mode of the hostile servers", () => {
    const used = new Set(
      rows.flatMap((row) => [
        ...Object.values(serversOf(row, 1)).map(({ args }) => args[1]),
        ...(row.ownModes ?? []),
      ]),
    );
    const all = [...Object.keys(modes), ...Object.keys(httpModes)];
    expect(all.filter((mode) => !used.has(mode))).toEqual([]);
  });
});

describe("decimalOf", () => {
  it.each([
    ["1E5", "100000"],
    ["-0", "0"],
    ["0.10", "1e-1"],
    ["1.5e+2", "150"],
  ])("%s equals %s", (one, other) => {
    expect(decimalOf(one)).toBe(decimalOf(other));
  });

  it.each([
    ["9007199254740993", "9007199254740992"],
    ["1e400", "null"],
    ["-1", "1"],
  ])("%s does not equal %s", (one, other) => {
    expect(decimalOf(one)).not.toBe(decimalOf(other));
  });
});
