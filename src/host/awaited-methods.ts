import type { Grants } from "../grants/grants.ts";
import { ToolGrants } from "../grants/tool-grants.ts";
import type { Pins } from "../pins/pins.ts";
import { ToolPins } from "../pins/tool-pins.ts";
import { keepAliveWhileAwaited } from "../ports/keep-alive.ts";
import type { Audit } from "../store/audit/audit-entry.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { McpHost } from "./host.ts";
import { HostLogs, type KeptLogs } from "./logs/kept-logs.ts";
import { PlugboardHost } from "./plugboard-host.ts";

/** Makes every method that a program may await of a host keep the process alive meanwhile. */
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
}
