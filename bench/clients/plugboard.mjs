import { createHost } from "../../dist/index.js";

/**
 * The whole host path: name, policy, validation, deadline, bounded result, events. Someone listens to
 * every event, because an event that nobody wants is not even built.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export async function open(target) {
  const { kind, ...entry } = target;
  const host = await createHost({ config: false, servers: { echo: entry } });
  let events = 0;
  host.on("*", () => {
    events += 1;
  });
  const session = host.session({ agent: "bench", level: "yolo" });
  await session.ready();
  return {
    call: (text) => session.call("mcp__echo__echo", { text }),
    textOf: (outcome) => (outcome.ok ? outcome.text : outcome.error),
    close: async () => {
      await host.close();
      if (events === 0) throw new Error(`the ${kind} sample published no event`);
    },
  };
}
