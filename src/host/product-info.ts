import { readFileSync } from "node:fs";

const manifest = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

/** How this host introduces itself to servers. */
export const productInfo = { name: "plugboard", version: manifest.version } as const;
