// Who may call what: levels, capabilities, consent, and the reasons for a verdict.
import { CapabilitySet, createHost, type Human, type Session } from "plugboard";
import { canUseMcp, requiresMcpConfirmation } from "plugboard/permissions";
import { createMemoryServer, createRecordedServer } from "plugboard/testing";

const files = createRecordedServer({
  tools: ["read_file", "list_directory", "write_file"].map((name) => ({
    name,
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  })),
});
await using host = await createHost({
  config: false,
  servers: { filesystem: () => createMemoryServer(files).transport },
});

// The table of levels, as functions.
for (const level of ["yolo", "trusted", "sandboxed", undefined] as const)
  console.log(level, canUseMcp(level), requiresMcpConfirmation(level, "filesystem", new Set()));

// What a session does by itself, spelled out: ask once for each server, and remember the answer.
const permissions = { level: "trusted" } as const;
const allowances = new Set<string>();
if (canUseMcp(permissions) && requiresMcpConfirmation(permissions, "filesystem", allowances))
  allowances.add("mcp:filesystem");
console.log(requiresMcpConfirmation(permissions, "filesystem", allowances));

// A set of capabilities allows exactly what was granted. Without a level it is the program's own consent:
// nobody is asked.
const capabilities = new CapabilitySet()
  .grant("mcp:filesystem:read_file", "execute")
  .grant("mcp:filesystem:list_directory", "execute");
const reader = host.session({ agent: "reader", capabilities });
console.log((await reader.loadTools()).map(({ originalName }) => originalName));
console.log((await reader.call("mcp__filesystem__read_file", { path: "/etc/hosts" })).ok);
const refused = await reader.call("mcp__filesystem__write_file", { path: "/tmp/x" });
console.log(refused.ok || `${refused.error.code}: ${refused.error.message}`);

// A trusted agent asks: one answer for the server covers its tools for the rest of the session.
const human: Human = {
  confirm: async ({ agent, serverName, toolName, argumentsText }) => {
    // Long ones are cut, and a yes counts only after all of them were asked for.
    const shown = await argumentsText?.whole();
    console.log(`may ${agent} call ${serverName}.${toolName} with ${shown}?`);
    return "server-session";
  },
};
const main = host.session({ agent: "main", level: "trusted", human });
await main.call("mcp__filesystem__read_file", { path: "/etc/hosts" });
await main.call("mcp__filesystem__write_file", { path: "/tmp/x" });

// Or nothing is asked about a server at all, for one agent: what others call `--allow-all`.
await host.connect("filesystem", { owner: "worker", shared: true, mode: "allow-all" });
const worker = host.session({ agent: "worker", level: "trusted" });
console.log((await worker.call("mcp__filesystem__read_file", { path: "/etc/hosts" })).ok);

// Only what may be called without a question, and nothing for an agent that may not use servers.
const skillsOf = (session: Session): readonly string[] =>
  session
    .tools()
    .filter(({ needsConsent }) => !needsConsent)
    .map(({ originalName }) => originalName);
console.log(skillsOf(main), skillsOf(host.session({ agent: "guest", level: "sandboxed" })));

// For agents that nobody watches, a person allows beforehand, for good.
await host.grants.allow({ agent: "nightly", server: "filesystem", tool: "read_file" });
const nightly = host.session({ agent: "nightly", level: "trusted" });
console.log(nightly.tools().map(({ originalName }) => originalName));

// Every verdict names its rule.
const why = host.why("reader", "filesystem.write_file");
console.log(why.verdict, why.steps.find(({ passes }) => !passes)?.rule);
console.log(host.why("nightly", "filesystem.read_file").consent);

// Output:
// yolo true false
// trusted true true
// sandboxed false true
// undefined false true
// false
// [ 'read_file', 'list_directory' ]
// true
// denied: the agent was not granted mcp:filesystem:write_file
// may main call filesystem.read_file with {"path":"/etc/hosts"}?
// true
// [ 'read_file', 'list_directory', 'write_file' ] []
// [ 'read_file' ]
// denied capability
// grant
