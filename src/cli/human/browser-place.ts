import type { BrowserPlace } from "../../isolation/open-url.ts";

/** Where the browser of the person at this process is looked for. */
export function browserPlace(): BrowserPlace {
  return { env: process.env, platform: process.platform, cwd: process.cwd() };
}
