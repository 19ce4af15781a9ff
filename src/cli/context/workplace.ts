import type { ConnectOptions, McpHost } from "../../host/host.ts";
import type { SharedHost, SharedSession } from "../../host/shared-host.ts";
import type { ConsentMode } from "../../policy/decide-consent.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";

/** How an agent has a server that was connected for it. */
export interface Holding {
  readonly isShared: boolean;
  readonly mode: ConsentMode;
}

/**
 * What outlives the single command where several are typed one after the other: hosts that stay open, and the agent on
 * whose behalf they are typed. A command in a process of its own has none; it opens a host and closes it again.
 */
export interface Workplace {
  readonly agent: string;
  readonly level: PermissionLevel;
  /** What a command begins with where it is typed. */
  readonly program: string;
  /** The host for commands that look and call, with the servers that the agent sees. */
  sharedHost(): Promise<SharedHost>;
  /** The host for commands that read or change what is kept. */
  wholeHost(): Promise<McpHost>;
  /** The agent's session at this host, which keeps what a person allowed; somebody is asked about its calls. */
  session(host: SharedHost): SharedSession;
  /** The way in which the agent has a server that was connected for it; undefined for any other. */
  holdingOf(serverName: string): Holding | undefined;
  /** Undefined: the agent has let go of it. */
  setHolding(serverName: string, holding: Holding | undefined): void;
  /** The agents that have this server, the sharing one first. */
  holdersOf(serverName: string): readonly string[];
  /** Lets the agent call these tools without a question, as they are now, until the server is let go. */
  chooseTools(serverName: string, toolNames: readonly string[]): void;
  /** Runs something that takes over the terminal, such as an editor. */
  lendTerminal<T>(use: () => Promise<T>): Promise<T>;
}

/** On whose behalf a server is connected that a command needs. */
export function claimOf(
  workplace: Workplace | undefined,
  serverName: string,
): Pick<ConnectOptions, "owner" | "shared"> {
  const holding = workplace?.holdingOf(serverName);
  if (workplace === undefined || holding === undefined) return {};
  return { owner: workplace.agent, shared: holding.isShared };
}

/** How an agent has a server, in a few words. */
export function holdingNote({ mode, isShared }: Holding): string {
  return `${modeWords[mode]} · ${isShared ? "shared" : "private"}`;
}

const modeWords: Readonly<Record<ConsentMode, string>> = {
  "allow-all": "allow all",
  "ask-per-tool": "ask per tool",
  "ask-per-server": "ask per server",
};
