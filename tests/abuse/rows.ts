import type { Row } from "./row.ts";
import { idRows } from "./rows/id-rows.ts";
import { mutationRows } from "./rows/mutation-rows.ts";
import { progressRows } from "./rows/progress-rows.ts";
import { shapeRows } from "./rows/shape-rows.ts";
import { valueRows } from "./rows/value-rows.ts";

/** The attack table. A family of attacks is a file; what it holds, `npm run test:abuse` prints. */
export const rows: readonly Row[] = [
  ...idRows,
  ...shapeRows,
  ...valueRows,
  ...progressRows,
  ...mutationRows,
];
