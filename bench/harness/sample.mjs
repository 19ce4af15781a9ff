// The measured process: `node sample.mjs '{"measure": "<file of measure/>", "options": {…}}'`.
// Started by hand, for example under `--cpu-prof`, it prints its figures.

import { useBuild } from "../clients/build.mjs";

const { measure: file, options } = JSON.parse(process.argv[2] ?? "{}");

// Whoever started us is gone: nobody wants the figures, and our server must not stay behind.
process.once("disconnect", () => process.exit(1));

if (options.build !== undefined) useBuild(options.build);
const { measure } = await import(`../measure/${file}.mjs`);
const figures = await measure(options);

// Clients may leave timers and sockets behind; a sample ends when it has its figures.
if (process.send) process.send(figures, undefined, undefined, () => process.exit(0));
else process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
