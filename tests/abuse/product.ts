import path from "node:path";
import { pathToFileURL } from "node:url";

import type { aiSdkTools } from "../../src/adapters/index.ts";
import type { loadConfig, parseConfig } from "../../src/entries/config.ts";
import type { createHost, createToolClient, McpHost } from "../../src/index.ts";
import { MessageReader } from "../../src/transport/reading/message-reader.ts";
import type { ServerEntry } from "./subject.ts";

/** What the suite uses of the product: the built package in full runs, the sources in `npm test`. */
export interface Product {
  readonly createHost: typeof createHost;
  readonly createToolClient: typeof createToolClient;
  readonly loadConfig: typeof loadConfig;
  readonly parseConfig: typeof parseConfig;
  readonly aiSdkTools: typeof aiSdkTools;
  readonly MessageReader: typeof MessageReader;
  /** How to start a server with a tool `echo` that has nothing but good intentions. */
  readonly healthyServer: ServerEntry;
}

export type HostOptions = NonNullable<Parameters<Product["createHost"]>[0]>;

const dist = path.resolve(import.meta.dirname, "../../dist");

export async function loadBuiltProduct(): Promise<Product> {
  const [host, adapters, testing] = await Promise.all([
    loadBuilt<Pick<Product, "createHost" | "createToolClient" | "loadConfig" | "parseConfig">>(
      "index.js",
    ),
    loadBuilt<Pick<Product, "aiSdkTools">>("adapters/index.js"),
    loadBuilt<{ testServerEntry: () => ServerEntry }>("testing/index.js"),
  ]);
  // No part of the public API, so no file of the package has it to itself.
  const { aiSdkTools } = adapters;
  const healthyServer = testing.testServerEntry();
  return { ...host, aiSdkTools, MessageReader, healthyServer };
}

function loadBuilt<T>(file: string): Promise<T> {
  return import(pathToFileURL(path.join(dist, file)).href) as Promise<T>;
}

/** A host that reads no files. */
export function createBareHost(product: Product, options: HostOptions): Promise<McpHost> {
  return product.createHost({ config: false, logger: false, ...options });
}
