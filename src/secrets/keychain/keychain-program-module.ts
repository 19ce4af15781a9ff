import type { ThreadModule } from "../../ports/thread-module.ts";

/** The program that `ProcessKeychain` starts; a bundle has its code and no file, as with a thread. */
export const keychainProgramModule: ThreadModule = {
  file: new URL("./keychain-program.mjs", import.meta.url),
};
