import type { Grants } from "../grants/grants.ts";
import { ToolGrants } from "../grants/tool-grants.ts";
import type { Pins } from "../pins/pins.ts";
import { ToolPins } from "../pins/tool-pins.ts";
import { keepAliveWhileAwaited } from "../ports/keep-alive.ts";
import { AgentSection } from "../session/agent-section.ts";
import { AgentSession } from "../session/agent-session.ts";
import { AgentContent, type SessionContent } from "../session/content/session-content.ts";
import type { Section, Session } from "../session/session.ts";
import type { Audit } from "../store/audit/audit-entry.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { McpHost } from "./host.ts";
import { HostLogs, type KeptLogs } from "./logs/kept-logs.ts";
import { PlugboardHost } from "./plugboard-host.ts";

/** Makes every method that a program may await of a host or a session keep the process alive meanwhile. */
export function keepHostAlive(): void {
  keepAliveWhileAwaited<McpHost>(PlugboardHost.prototype, {
    serversAsLastSeen: true,
    add: true,
    editableEntry: true,
    update: true,
    remove: true,
    forgetInputs: true,
    importConfig: true,
    importSources: true,
    checkConfig: true,
    enable: true,
    disable: true,
    reload: true,
    connect: true,
    connectAll: true,
    disconnect: true,
    disconnectAll: true,
    reconnect: true,
    connectElsewhere: true,
    checkConnections: true,
    doctor: true,
    checkContract: true,
    approvalQuestion: true,
    requestApproval: true,
    approve: true,
    revokeApproval: true,
    login: true,
    logout: true,
    signIn: true,
    emitTypes: true,
    setRoots: true,
    close: true,
  });
  keepAliveWhileAwaited<Grants>(ToolGrants.prototype, { allow: true, revoke: true });
  keepAliveWhileAwaited<Pins>(ToolPins.prototype, { list: true, show: true, accept: true });
  keepAliveWhileAwaited<Audit>(AuditTrail.prototype, { query: true });
  keepAliveWhileAwaited<KeptLogs>(HostLogs.prototype, { names: true, read: true });
  // The path of a call keeps the process alive by itself, without one more promise; `execute` and `dispatch` are calls.
  keepAliveWhileAwaited<Omit<Session, "call" | "execute" | "dispatch">>(AgentSession.prototype, {
    ready: true,
    loadTools: true,
    transaction: true,
    promptTemplate: true,
  });
  keepAliveWhileAwaited<SessionContent>(AgentContent.prototype, {
    resources: true,
    resourceTemplates: true,
    prompts: true,
    readResource: true,
    watchResource: true,
    prompt: true,
    complete: true,
  });
  keepAliveWhileAwaited<Section>(AgentSection.prototype, {
    loadTools: true,
    connect: true,
    disconnect: true,
    open: true,
  });
}
