import { fileURLToPath } from "node:url";

import { isBuilt, ownModule, packageFile } from "../../ports/package-files.ts";

export interface BundledServerOptions {
  readonly era?: "both" | "legacy" | "modern" | undefined;
  readonly pageSize?: number | undefined;
}

/** What a configuration entry needs to start a bundled server as a child process. */
export interface BundledServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** How to start a server that ships with the package. Only its file is named here, nothing is loaded. */
export function bundledServer(
  server: "demo" | "test",
  options: BundledServerOptions = {},
): BundledServerEntry {
  const { era, pageSize } = options;
  return {
    command: process.execPath,
    args: [
      // Sources need a loader, which the script of the repository brings.
      fileURLToPath(
        isBuilt ? ownModule("testing/run-stdio.ts") : packageFile("scripts/run-server.cjs"),
      ),
      server,
      ...(era === undefined ? [] : ["--era", era]),
      ...(pageSize === undefined ? [] : ["--page-size", String(pageSize)]),
    ],
  };
}
