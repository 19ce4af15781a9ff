import type { ToolOrigin } from "../../catalog/tool-origin.ts";
import type { McpHost } from "../../host/host.ts";
import type { SharedHost, SharedSession } from "../../host/shared-host.ts";
import type { Human } from "../../human/human.ts";
import type { Session } from "../../session/session.ts";
import type { CommandContext } from "../context/command-context.ts";

/** The command line is an agent of its own: what is typed there grants nothing to any other. */
const agent = "cli";

/** A session that lists tools and has nobody to ask about calling one. */
export async function openListing(
  { workplace }: CommandContext,
  host: SharedHost,
): Promise<SharedSession> {
  if (workplace !== undefined) return await informed(workplace.session(host));
  return await informed(
    host.session({ agent, level: "trusted", human: { confirm: async () => "no" } }),
  );
}

/**
 * A session for one typed call: typing it is consent for exactly that call, once. Where an agent has a session that
 * goes on, it is the agent that calls, and its person is asked.
 */
export async function openTypedCall(
  { workplace }: CommandContext,
  host: SharedHost,
  target: ToolOrigin,
): Promise<SharedSession> {
  if (workplace !== undefined) return await informed(workplace.session(host));
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
  return await informed(host.session({ agent, level: "trusted", human }));
}

/** The same for one typed use of a resource or a prompt of this server. */
export async function openTypedUse(
  { workplace }: CommandContext,
  host: SharedHost,
  server: string,
): Promise<SharedSession> {
  if (workplace !== undefined) return await informed(workplace.session(host));
  let isUsed = false;
  const human: Human = {
    confirm: async ({ kind, serverName, argumentsText }) => {
      if (kind !== "content" || serverName !== server || isUsed) return "no";
      isUsed = true;
      await argumentsText?.whole();
      return "once";
    },
  };
  return await informed(host.session({ agent, level: "trusted", human }));
}

/** A session whose person is asked. */
export function openAttended(host: McpHost, human: Human): Session {
  return host.session({ agent, level: "trusted", human });
}

/** A session without a person behind it, as an agent in the background has one. */
export function openUnattended(host: McpHost): Session {
  return host.session({ agent, level: "trusted" });
}

/** The session once it knows its tools: one in another process has to be asked for them. Connects nothing. */
async function informed(session: SharedSession): Promise<SharedSession> {
  await session.ready({ servers: [] });
  return session;
}
