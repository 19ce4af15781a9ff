// Opens a store in Postgres, with the built package, and prints the error.
import { createHost } from "../../dist/index.js";

const host = await createHost({ config: false, store: "postgres://127.0.0.1:9/none" });
await host.audit.query().catch((error) => console.log(JSON.stringify(error)));
await host.close().catch(() => {});
