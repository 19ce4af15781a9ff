import { bundleServers } from "./bundle-programs.ts";
import { compileCommands } from "./compiled-commands.ts";

/** Run by vitest before all tests: what they start hundreds of times is made to start quickly. */
export async function setup(): Promise<void> {
  await bundleServers();
  compileCommands();
}
