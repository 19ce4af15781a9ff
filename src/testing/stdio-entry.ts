import {
  type BundledServerEntry,
  bundledServer,
  type BundledServerOptions,
} from "../host/servers/bundled-server.ts";

/** The bundled demo server over stdio, as a configuration entry. */
export function demoServerEntry(options?: BundledServerOptions): BundledServerEntry {
  return bundledServer("demo", options);
}

/** The bundled test server over stdio, as a configuration entry. */
export function testServerEntry(options?: BundledServerOptions): BundledServerEntry {
  return bundledServer("test", options);
}
