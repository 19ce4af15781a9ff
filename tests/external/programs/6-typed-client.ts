// A typed client, from a module that `plugboard types everything -o everything-tools.ts` wrote.
import { createHost } from "plugboard";

import { everything } from "./everything-tools.ts";

const host = await createHost({
  config: false,
  servers: {
    everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
  },
});
const tools = everything(host.session({ agent: "main", level: "yolo" }));

console.log((await tools.echo({ message: "hello" })).text);
// @ts-expect-error the message is missing
const wrong = await tools.echo({});
if (!wrong.ok) console.log(wrong.error.code);
const weather = await tools["get-structured-content"]({ location: "New York" });
if (weather.ok) console.log(weather.structured.conditions);
await host.close();

// Output:
// Echo: hello
// invalid_arguments
// Cloudy
