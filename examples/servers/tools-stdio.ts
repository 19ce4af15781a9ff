// One client, over stdin and stdout. Whatever is logged must go to stderr.
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { createToolsServer } from "./tools-server.ts";

serveStdio(createToolsServer);
