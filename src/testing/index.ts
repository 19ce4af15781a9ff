export type { McpServerFactory } from "@modelcontextprotocol/server";

export { type AuthorizationAttack, authorizationAttacks } from "./authorization/attacks.ts";
export type {
  AuthorizationServerOptions,
  ClientAuthMethod,
  GrantType,
  KnownClient,
  PublicKey,
  TrustedIssuer,
} from "./authorization/authorization-options.ts";
export {
  type AuthorizationCounts,
  type AuthorizationServer,
  type HeldRequests,
  type TokenDemand,
  type TokenVerdict,
  startAuthorizationServer,
} from "./authorization/authorization-server.ts";
export type { ArrivedRequest } from "./authorization/oauth-answer.ts";
export {
  type ProtectedServer,
  type ServeProtectedOptions,
  serveProtected,
} from "./authorization/serve-protected.ts";
export { type DemoServerOptions, createDemoServer } from "./demo-server.ts";
export { type MemoryServer, type MemoryServerOptions, createMemoryServer } from "./memory.ts";
export {
  type ProtectedDemo,
  type ProtectedDemoOptions,
  startProtectedDemo,
} from "./protected-demo.ts";
export {
  type RecordedCall,
  type RecordedServerOptions,
  createRecordedServer,
} from "./recorded-server.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./serve/serve-http.ts";
export { type ServeSseOptions, type SseServer, serveSse } from "./serve/serve-sse.ts";
export { type RestServer, type ServeRestOptions, serveRest } from "./serve/serve-rest.ts";
export { type ServeStdioOptions, type StdioServer, serveStdio } from "./serve/serve-stdio.ts";
export type { ServedConnection, ServedEra } from "./serve/serve-transport.ts";
export { demoServerEntry, testServerEntry } from "./stdio-entry.ts";
export { type TestServerOptions, createTestServer } from "./test-server.ts";
export type { Clock, Timer } from "../ports/clock.ts";
