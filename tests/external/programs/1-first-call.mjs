// The first call from code, of a server from npm.
import { createHost } from "plugboard";

const host = await createHost({
  servers: {
    everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
  },
});
const session = host.session({ agent: "main", level: "yolo" });

const echo = await session.call("everything.echo", { message: "hello" });
console.log(echo.ok, echo.text);
const slip = await session.call("everything.echo", {});
console.log(slip.ok, slip.error?.code, slip.error?.message);
await host.close();

// Output:
// true Echo: hello
// false invalid_arguments echo: "message" is required (string)
