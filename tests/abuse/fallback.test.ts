import { describe, expect, it } from "vitest";

import { aiSdkTools } from "../../src/adapters/index.ts";
import { loadConfig, parseConfig } from "../../src/entries/config.ts";
import { createHost, createToolClient } from "../../src/index.ts";
import { MessageReader } from "../../src/transport/reading/message-reader.ts";
import { hostileEntry } from "./hostile/hostile-entry.ts";
import type { Product } from "./product.ts";
import { approvedArgumentRows } from "./rows/approved-argument-rows.ts";
import { idRows } from "./rows/id-rows.ts";
import { mutationRows } from "./rows/mutation-rows.ts";
import { progressRows } from "./rows/progress-rows.ts";
import { shapeRows } from "./rows/shape-rows.ts";
import { valueRows } from "./rows/value-rows.ts";
import { runRow } from "./run-row.ts";

const product: Product = {
  createHost: (options) => createHost({ ...options, protocolCore: "sdk" }),
  createToolClient,
  loadConfig,
  parseConfig,
  aiSdkTools,
  MessageReader,
  healthyServer: hostileEntry("healthy", { lifeMs: 120_000 }),
};

/** Attacks with answers, and on what is sent; all others meet the same code before the SDK sees anything of them. */
const rows = [
  ...idRows,
  ...shapeRows,
  ...valueRows,
  ...progressRows,
  ...mutationRows,
  ...approvedArgumentRows,
]
  .filter(({ knownGap }) => knownGap === undefined)
  .map((row) => [`${row.id}: ${row.trigger}: ${row.expected}`, row] as const);

describe("the attacks that get through to the SDK's client, where that is the protocol core", () => {
  it.each(rows)(
    "%s",
    async (_name, row) => {
      const { broken } = await runRow(row, "short", product);
      expect(broken).toEqual([]);
    },
    120_000,
  );
});
