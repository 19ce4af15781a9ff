// Secrets from where a program has them. A function in an entry is called when the server starts; what
// it gives goes to the server, and is masked everywhere else. A name is for entries of files, too.
import { createHost } from "plugboard";

const secrets = new Map([["github_token", "ghp-of-octocat"]]);

// Stands for a server that needs a token: it says how long the one is that it was started with.
const program = `
  const token = process.env.GITHUB_TOKEN ?? "";
  console.error("signed in with", token);
  const tools = [{ name: "token_length", inputSchema: { type: "object" } }];
  const capabilities = { tools: {} };
  const serverInfo = { name: "github", version: "1" };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities, serverInfo },
      "tools/list": { tools },
      "tools/call": { content: [{ type: "text", text: String(token.length) }] },
    };
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });`;
const server = { command: process.execPath, args: ["-e", program] };

const host = await createHost({
  config: false,
  servers: {
    github: { ...server, env: { GITHUB_TOKEN: () => secrets.get("github_token") } },
    // As a file would write it; what `secrets` does not have is looked up in `plugboard secret`.
    named: { ...server, env: { GITHUB_TOKEN: "${secret:github_token}" } },
    missing: { ...server, env: { GITHUB_TOKEN: "${secret:gitlab_token}" } },
  },
  secrets: (name) => secrets.get(name),
});
const session = host.session({ level: "yolo" });
for (const name of ["github", "named", "missing"]) {
  const outcome = await session.call(`mcp__${name}__token_length`, {});
  console.log(name, outcome.ok ? outcome.text : outcome.error.code);
}
console.log(host.logs("github").join("\n"));
console.log(JSON.stringify(host.server("named").config.transport).includes("octocat"));

await host.close();

// Output:
// github 14
// named 14
// missing variable_unset
// signed in with [redacted]
// false
