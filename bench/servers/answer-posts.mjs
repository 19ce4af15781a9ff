import { createServer } from "node:http";

/**
 * @typedef {object} PostedServers
 * @property {(path: string) => import("./echo-answers.mjs").Answer} answerAt who answers at a path
 * @property {(path: string, response: import("node:http").ServerResponse) => boolean} [openStream] takes
 *   a GET as the stream of the server at that path; false where it has none
 * @property {boolean} [needsToken] refuses whoever brings no token; whose it is does not matter
 */

/**
 * Answers JSON-RPC messages over HTTP at a free port, writes the address to stdout, and ends with stdin.
 *
 * @param {PostedServers} servers
 */
export function answerPosts({ answerAt, openStream = () => false, needsToken = false }) {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (needsToken && !request.headers.authorization?.startsWith("Bearer ")) {
      response.writeHead(401, { "www-authenticate": "Bearer", "content-length": 0 }).end();
      return;
    }
    if (request.method === "GET" && openStream(path, response)) return;
    // No session: DELETE is for servers that have them.
    if (request.method !== "POST") {
      response.writeHead(405, { allow: "POST", "content-length": 0 }).end();
      return;
    }
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const json = answerAt(path)(body);
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
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("there is no port");
    process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
  });

  // The end of stdin is the end of whoever started us.
  process.stdin.on("end", () => process.exit(0)).resume();
}
