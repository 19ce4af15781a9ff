// The same server in two files: the nearer entry replaces the farther one as a whole.
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { loadConfig } from "plugboard/config";

const root = await mkdtemp(path.join(tmpdir(), "layers-"));
const home = path.join(root, "home");
const project = path.join(root, "project");
await mkdir(path.join(home, ".plugboard"), { recursive: true });
await mkdir(path.join(project, ".plugboard"), { recursive: true });
await writeFile(
  path.join(home, ".plugboard/mcp.json"),
  `{
  "servers": {
    "github": {
      "command": ["npx", "-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_TOKEN": "\${GITHUB_TOKEN}" }
    }
  }
}`,
);
await writeFile(
  path.join(project, ".plugboard/mcp.json"),
  `{
  "servers": {
    // Off in this project only.
    "github": { "enabled": false },
    "project-specific": { "command": ["./scripts/my-mcp-server.py"] }
  }
}`,
);

const { servers, shadowed } = await loadConfig({ cwd: project, home });
for (const { name, enabled, provenance } of servers)
  console.log(
    `${name}: ${enabled ? "available" : "disabled"}, ${provenance.layer}, line ${provenance.line}`,
  );
console.log(`hidden: ${[...shadowed.keys()].join(", ")}`);

// Output:
// github: disabled, project, line 4
// project-specific: available, project, line 5
// hidden: github
