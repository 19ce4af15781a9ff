// @ts-check
import { bootstrap } from "./bootstrap.mjs";
import { elapsed, main, runTool, ScriptError } from "./run.mjs";

/** @typedef {{ readonly name: string, readonly run: () => Promise<void> }} Step */

/**
 * @param {string} name
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [packageName]
 * @returns {Step}
 */
function toolStep(name, command, args, packageName = command) {
  return {
    name,
    run: async () => {
      const { code, output } = await runTool(command, args, {
        package: packageName,
        capture: true,
      });
      if (code !== 0) throw new ScriptError(`${output.trimEnd()}\n(${command}: exit code ${code})`);
    },
  };
}

/** @type {Step} */
const buildStep = { name: "build", run: () => bootstrap() };

/** @type {readonly Step[]} */
const sourceSteps = [
  toolStep("format", "oxfmt", ["--check"]),
  toolStep("lint", "oxlint", ["--type-aware"]),
  toolStep("types", "tsc", ["--noEmit"], "typescript"),
  toolStep("unused code", "knip", ["--no-progress"]),
  buildStep,
];

/** What only the built package can show. @type {readonly Step[]} */
const packageSteps = [
  toolStep("package", "publint", ["--strict"]),
  toolStep(
    "package types",
    "attw",
    ["--pack", ".", "--profile", "esm-only", "--exclude-entrypoints", "schema/mcp.json"],
    "@arethetypeswrong/cli",
  ),
];

/**
 * One line for a step that passed, the whole output of one that failed.
 *
 * @param {Step} step
 */
async function report(step) {
  const since = performance.now();
  try {
    await step.run();
    console.log(`✓ ${step.name.padEnd(14)} ${elapsed(since)}`);
    return true;
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    console.log(`✗ ${step.name.padEnd(14)} ${elapsed(since)}\n${error.message}\n`);
    return false;
  }
}

/**
 * Every check that needs no test runner, as parallel as their order allows.
 *
 * @returns {Promise<number>} how many failed
 */
export async function runChecks() {
  const results = await Promise.all(sourceSteps.map(report));
  // Without a build there is no package to look at, and the failed build is counted already.
  if (results.at(-1)) results.push(...(await Promise.all(packageSteps.map(report))));
  return results.filter((passed) => !passed).length;
}

/** @returns {Promise<number>} 1 when the build failed, else 0 */
export async function runBuild() {
  return (await report(buildStep)) ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    await bootstrap({ build: false });
    return (await runChecks()) === 0 ? 0 : 1;
  });
}
