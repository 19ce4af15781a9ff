// What servers offer beside tools: resources to read, and prompts to begin a conversation with.
import { createHost } from "plugboard";
import { resourceContext } from "plugboard/content";
import { demoServerEntry } from "plugboard/testing";

await using host = await createHost({ config: false, servers: { demo: demoServerEntry() } });
const { content } = host.session({ agent: "main", level: "yolo" });

// Lists come from all servers; one that fails is named in `missing` and holds up no other.
const resources = await content.resources();
for (const { serverName, uri, mimeType } of resources) console.log(serverName, uri, mimeType);

// A resource as a block of text for a model, which says where it comes from.
const [readme] = resources;
if (readme !== undefined)
  console.log(resourceContext(readme, await content.readResource("demo", readme.uri)));

for (const { name, arguments: wanted } of await content.prompts())
  console.log(`${name}(${wanted.map((argument) => argument.name).join(", ")})`);
const greeting = await content.prompt("demo", "greeting", { name: "Ada" });
for (const { role, content: block } of greeting.messages) console.log(role, block["text"]);

// Output:
// demo file:///readme.txt text/plain
// demo file:///config.json application/json
// demo file:///data/users.csv text/csv
// --- MCP Resource: readme.txt ---
// Server: demo
// URI: file:///readme.txt
// Type: text/plain
// Description: What this server is for
// ---
// This server shows what a host can do with tools, resources and prompts.
//
// greeting(name)
// code_review(code, language)
// user Say hello to Ada in one warm sentence.
