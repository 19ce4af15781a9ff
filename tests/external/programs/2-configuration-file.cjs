// Servers from the user's file and the project's, which has to be approved before anything of it starts.
const { mkdirSync, realpathSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { createHost } = require("plugboard");

const home = path.join(__dirname, "configured");
const notes = path.join(home, "notes");
mkdirSync(notes, { recursive: true });
writeFileSync(path.join(notes, "plan.txt"), "Rest on Sunday.");
mkdirSync(path.join(home, ".plugboard"), { recursive: true });
const runner = path.join(__dirname, "node_modules/.bin/mcp-server-filesystem");
const user = `{
  // Comments and trailing commas are fine.
  "mcpServers": { "files": { "command": ${JSON.stringify(runner)}, "args": ["\${NOTES}"], "expandArgs": true, }, },
}`;
writeFileSync(path.join(home, ".plugboard", "mcp.json"), user);
const project = { mcpServers: { unknown: { command: "npx", args: ["-y", "some-package"] } } };
writeFileSync(path.join(home, ".mcp.json"), JSON.stringify(project));

async function main() {
  process.env.NOTES = realpathSync(notes);
  const host = await createHost({ cwd: home, home });
  for (const { name, state, provenance } of host.servers())
    console.log(name, state, provenance.layer);
  const session = host.session({ agent: "main", level: "yolo" });
  const file = path.join(process.env.NOTES, "plan.txt");
  console.log((await session.call("files.read_text_file", { path: file })).text);
  const refused = await session.call("unknown.anything");
  console.log(refused.error.code);
  await host.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// Output:
// unknown pending project
// files idle user
// Rest on Sunday.
// not_approved
