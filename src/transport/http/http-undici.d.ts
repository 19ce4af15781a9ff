// The package's front door loads fetch, WebSocket and a cache, three times the start-up time of what
// is needed here, and puts its own dispatcher under the process's global `fetch`.
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  // oxlint-disable-next-line import/no-default-export -- CommonJS
  export default Pool;
}

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";
  // oxlint-disable-next-line import/no-default-export -- CommonJS
  export default buildConnector;
}
