// Who may call what: a person who is asked, a set of rights, and the reasons.
import { CapabilitySet, createHost, type Human } from "plugboard";
import { createTerminalHuman } from "plugboard/human";

const asked: string[] = [];
const careful: Human = {
  async confirm({ serverName, toolName, argumentsText }) {
    asked.push(`${serverName}.${toolName} ${argumentsText?.text}`);
    return toolName === "echo" ? "tool-session" : "no";
  },
};

const host = await createHost({
  servers: {
    everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
  },
});

const trusted = host.session({ agent: "trusted", level: "trusted", human: careful });
for (const message of ["one", "two"])
  console.log((await trusted.call("everything.echo", { message })).text);
const refused = await trusted.call("everything.get-sum", { a: 1, b: 2 });
console.log(refused.ok ? refused.text : refused.error.code);
console.log(asked.join("; "));

// A program that nobody watches: the set is the consent for exactly what it grants.
const capabilities = new CapabilitySet().grant("mcp:everything:echo", "execute");
const background = host.session({ agent: "background", capabilities });
console.log((await background.call("everything.echo", { message: "three" })).text);
const { verdict, steps } = background.why("everything.get-sum");
console.log(verdict, steps.find(({ passes }) => !passes)?.rule);

// At a terminal the person there is asked; here there is none, so nobody can be.
const atTerminal = host.session({ agent: "cli", level: "trusted", human: createTerminalHuman() });
const silent = await atTerminal.call("everything.echo", { message: "four" });
console.log(silent.ok ? silent.text : silent.error.code);
await host.close();

// Output:
// Echo: one
// Echo: two
// consent_denied
// everything.echo {"message":"one"}; everything.get-sum {"a":1,"b":2}
// Echo: three
// denied capability
// consent_denied
