import { createServer } from "node:http";

import { createAnswer } from "./echo-answers.mjs";

const answer = createAnswer(JSON.parse(process.argv[2] ?? "{}"));

const server = createServer((request, response) => {
  // No stream of its own and no session: GET and DELETE are for servers that have them.
  if (request.method !== "POST") {
    response.writeHead(405, { allow: "POST", "content-length": 0 }).end();
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const json = answer(body);
    if (json === undefined) {
      response.writeHead(202, { "content-length": 0 }).end();
      return;
    }
    response
      .writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(json),
      })
      .end(json);
  });
});

// A connection the server drops between two calls would be measured as the client's fault.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
});

// The end of stdin is the end of whoever started us.
process.stdin.on("end", () => process.exit(0)).resume();
