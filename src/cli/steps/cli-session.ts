import type { ToolOrigin } from "../../catalog/tool-origin.ts";
import type { McpHost } from "../../host/host.ts";
import type { Human } from "../../human/human.ts";
import type { Session } from "../../session/session.ts";

/** The command line is an agent of its own: what is typed there grants nothing to any other. */
const agent = "cli";

/** A session that lists tools and has nobody to ask about calling one. */
export function openListing(host: McpHost): Session {
  return host.session({ agent, level: "trusted", human: { confirm: async () => "no" } });
}

/** A session for one typed call: typing it is consent for exactly that call, once. */
export function openTypedCall(host: McpHost, target: ToolOrigin): Session {
  let isUsed = false;
  const human: Human = {
    confirm: async ({ kind, serverName, toolName, argumentsText }) => {
      const isTyped =
        kind === "tool-call" && serverName === target.server && toolName === target.tool;
      if (!isTyped || isUsed) return "no";
      isUsed = true;
      // However long they are, they were typed.
      await argumentsText?.whole();
      return "once";
    },
  };
  return host.session({ agent, level: "trusted", human });
}

/** A session for one typed use of a resource or a prompt of this server: typing it is consent for exactly that, once. */
export function openTypedUse(host: McpHost, server: string): Session {
  let isUsed = false;
  const human: Human = {
    confirm: async ({ kind, serverName, argumentsText }) => {
      if (kind !== "content" || serverName !== server || isUsed) return "no";
      isUsed = true;
      await argumentsText?.whole();
      return "once";
    },
  };
  return host.session({ agent, level: "trusted", human });
}

/** A session whose person is asked. */
export function openAttended(host: McpHost, human: Human): Session {
  return host.session({ agent, level: "trusted", human });
}

/** A session without a person behind it, as an agent in the background has one. */
export function openUnattended(host: McpHost): Session {
  return host.session({ agent, level: "trusted" });
}
