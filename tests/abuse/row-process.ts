// One row in a process of its own, so that neither a crash nor memory of it touches the next:
// `row-process.ts <index> <form>`. The report goes to the parent.
import { loadBuiltProduct } from "./product.ts";
import type { Form } from "./row.ts";
import { rows } from "./rows.ts";
import { runRow } from "./run-row.ts";

// The loader turns source maps on. Node reads them for the stack of the first error, in 60 ms that would count
// as a stall of the product, which has none.
process.setSourceMapsEnabled(false);
process.once("disconnect", () => process.exit(1));

const [index, form] = process.argv.slice(2);
const row = rows[Number(index)];
if (row === undefined) throw new Error(`there is no row ${index}`);
const report = await runRow(row, form as Form, await loadBuiltProduct());
// What the attack left running must not keep the others waiting.
process.send?.(report, undefined, undefined, () => process.exit(0));
