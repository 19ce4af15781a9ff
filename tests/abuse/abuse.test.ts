import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { MessageReader } from "../../src/transport/message-reader.ts";
import { hostileEntry } from "./hostile/hostile-entry.ts";
import { modes } from "./hostile/modes.mjs";
import type { Product } from "./product.ts";
import type { Row } from "./row.ts";
import { rows } from "./rows.ts";
import { decimalOf } from "./rows/decimal.ts";
import { runRow } from "./run-row.ts";

const product: Product = { createHost, MessageReader, healthyServer: hostileEntry("healthy") };

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

  it("uses every mode of the hostile server", () => {
    const used = new Set(
      rows.flatMap(({ servers }) => Object.values(servers).map(({ args }) => args[1])),
    );
    expect(Object.keys(modes).filter((mode) => !used.has(mode))).toEqual([]);
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
