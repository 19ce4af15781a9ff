/**
 * Properties begin with a new seed in each run and print it when they fail. `PROPERTY_SEED` names the one
 * to begin with, for all of them.
 */
const seed = process.env["PROPERTY_SEED"];
if (seed !== undefined) {
  const { configureGlobal, readConfigureGlobal } = await import("fast-check");
  configureGlobal({ ...readConfigureGlobal(), seed: Number(seed) });
}
