// The types of a server's tools are written to a file once. From then on a wrong call does not compile.
import { readFileSync } from "node:fs";

import { createHost } from "plugboard";
import { testServerEntry } from "plugboard/testing";
import { paramsTypeOf } from "plugboard/tools";

// Made by: plugboard types calculator -o calculator-tools.ts
import { calculator } from "./calculator-tools.ts";

await using host = await createHost({ config: false, servers: { calculator: testServerEntry() } });
const session = host.session({ agent: "main", level: "yolo" });
const tools = calculator(session);

const sum = await tools.add({ a: 2, b: 3 });
console.log(sum.text);

// The server's schema has the last word at run time, too.
// @ts-expect-error b is missing
const wrong = await tools.add({ a: 2 });
if (!wrong.ok) console.log(wrong.error.message);

// The host writes the same text as the command, here to see whether the file is still true.
const source = await host.emitTypes("calculator");
console.log(source === readFileSync("calculator-tools.ts", "utf8"));

// And the arguments of each tool as data.
for (const tool of session.tools()) {
  const { name, fields } = paramsTypeOf("calculator", tool);
  console.log(name, JSON.stringify(fields.map((field) => `${field.name}: ${field.type}`)));
}

// Output:
// 5
// add: "b" is required (number)
// true
// CalculatorEchoParams ["message: string"]
// CalculatorGetTimeParams []
// CalculatorAddParams ["a: number","b: number"]
