// What happened: events while it happens, the audit trail afterwards, in another run, too.
import { type AuditRow, createHost, type HostEventOf } from "plugboard";

const servers = {
  everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
};
const store = `${import.meta.dirname}/trail.db`;

const host = await createHost({ config: false, servers, store });
const ended: HostEventOf<"call-end">[] = [];
host.on("call-end", (event) => ended.push(event));
const session = host.session({ agent: "main", level: "yolo" });
await session.call("everything.echo", { message: "hello" });
await session.call("everything.echo", {});
console.log(ended.map(({ toolName, ok, code }) => `${toolName} ${ok} ${code}`).join(", "));
await host.close();

const later = await createHost({ config: false, store });
const describe = ({ agent, server, tool, code }: AuditRow): string =>
  `${agent} ${server}.${tool} ${code}`;
for (const row of await later.audit.query({ type: "call", limit: 2 })) console.log(describe(row));
await later.close();

// Output:
// echo true null, echo false invalid_arguments
// main everything.echo invalid_arguments
// main everything.echo ok
