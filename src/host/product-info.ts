import { readOwnVersion } from "../ports/package-files.ts";

/** How this host introduces itself to servers. */
export const productInfo = { name: "plugboard", version: readOwnVersion() } as const;
