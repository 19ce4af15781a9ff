import { toolReference } from "../catalog/tool-origin.ts";
import {
  callback,
  checkArguments,
  either,
  flag,
  guardMethods,
  list,
  listOf,
  number,
  object,
  oneOf,
  optional,
  options,
  signal,
  text,
} from "../errors/check-arguments.ts";
import { ToolGrants } from "../grants/tool-grants.ts";
import { ToolPins } from "../pins/tool-pins.ts";
import { consentModes } from "../policy/decide-consent.ts";
import { permissionLevels } from "../policy/permission-level.ts";
import { AuditTrail } from "./audit-trail.ts";
import { HostLogs } from "./logs/kept-logs.ts";
import { PlugboardHost } from "./plugboard-host.ts";
import { NamedSecrets } from "./secrets/named-secrets.ts";

const start = { timeoutMs: number, signal };
const claim = { owner: text, shared: flag, mode: oneOf(...consentModes) };
const connect = { ...start, ...claim, onPhase: callback };
const elsewhere = { ...claim, reconnect: flag };
const name = { name: text } as const;
const scope = oneOf("user", "project");

const grantQuery = { query: options({ agent: text, server: text, tool: text }) } as const;
// Times are checked where they are read, here and in `allow`.
const auditFilter = {
  type: text,
  agent: text,
  server: text,
  tool: text,
  code: text,
  outcome: oneOf("ok", "failed"),
} as const;
const auditQuery = { query: options(auditFilter) } as const;

const logQuery = { since: number, limit: number } as const;

/** Makes hosts answer wrong types with `invalid_arguments`. */
export function guardHost(): void {
  guardMethods(ToolGrants.prototype, "host.grants", {
    list: { takes: grantQuery, fails: "throws" },
    // A query that is no object would fit every grant.
    revoke: { takes: grantQuery, fails: "rejects" },
    allow: {
      takes: {
        options: {
          ...object,
          members: {
            agent: text,
            server: text,
            tool: optional(text),
            includeDestructive: optional(flag),
          },
        },
      },
      fails: "rejects",
    },
  });
  guardMethods(ToolPins.prototype, "host.pins", {
    list: { takes: { server: optional(text) }, fails: "rejects" },
    show: { takes: { server: text, tool: text }, fails: "rejects" },
    accept: { takes: { server: text, tool: text, fingerprint: text }, fails: "rejects" },
  });
  guardMethods(AuditTrail.prototype, "host.audit", {
    query: { takes: auditQuery, fails: "rejects" },
    export: { takes: auditQuery, fails: "throws" },
    follow: { takes: { options: options({ ...auditFilter, signal }) }, fails: "throws" },
  });
  guardMethods(NamedSecrets.prototype, "host.secrets", {
    set: { takes: { ...name, value: text }, fails: "rejects" },
    remove: { takes: name, fails: "rejects" },
  });
  guardMethods(HostLogs.prototype, "host.keptLogs", {
    read: { takes: { ...name, query: options(logQuery) }, fails: "rejects" },
    follow: { takes: { ...name, options: options({ ...logQuery, signal }) }, fails: "throws" },
  });
  guardMethods(PlugboardHost.prototype, "host", {
    server: { takes: name, fails: "throws" },
    connect: {
      takes: { server: either(text, object), options: options(connect) },
      fails: "rejects",
    },
    connectAll: { takes: { options: options(start) }, fails: "rejects" },
    disconnect: { takes: { ...name, options: options({ owner: text }) }, fails: "rejects" },
    reconnect: { takes: { ...name, options: options(connect) }, fails: "rejects" },
    connectElsewhere: { takes: { ...name, options: options(elsewhere) }, fails: "rejects" },
    add: { takes: { ...name, entry: object, options: options({ scope }) }, fails: "rejects" },
    editableEntry: { takes: name, fails: "rejects" },
    update: {
      takes: { ...name, entry: object, options: options({ revision: text }) },
      fails: "rejects",
    },
    remove: { takes: name, fails: "rejects" },
    forgetInputs: { takes: name, fails: "rejects" },
    importConfig: {
      takes: {
        options: {
          ...object,
          members: {
            from: text,
            scope: optional(scope),
            names: optional(listOf(text)),
            overwrite: optional(flag),
            dryRun: optional(flag),
          },
        },
      },
      fails: "rejects",
    },
    enable: { takes: name, fails: "rejects" },
    disable: { takes: name, fails: "rejects" },
    approvalQuestion: { takes: name, fails: "rejects" },
    requestApproval: {
      takes: { ...name, options: options({ human: object, agent: text, by: text, signal }) },
      fails: "rejects",
    },
    approve: {
      takes: { ...name, options: options({ identity: text, by: text }) },
      fails: "rejects",
    },
    revokeApproval: { takes: name, fails: "rejects" },
    login: {
      takes: {
        ...name,
        options: options({
          token: text,
          scopes: listOf(text),
          force: flag,
          rotate: flag,
          present: callback,
          timeoutMs: number,
          signal,
        }),
      },
      fails: "rejects",
    },
    logout: { takes: name, fails: "rejects" },
    signIn: { takes: name, fails: "rejects" },
    registerTools: { takes: { serverName: text, schemas: listOf(object) }, fails: "throws" },
    checkContract: {
      takes: { ...name, options: options({ ...start, onResult: callback }) },
      fails: "rejects",
    },
    doctor: {
      takes: { name: optional(text), options: options({ ...start, onReport: callback }) },
      fails: "rejects",
    },
    emitTypes: { takes: { ...name, options: options(start) }, fails: "rejects" },
    setRoots: { takes: { roots: either(list, callback) }, fails: "rejects" },
    logs: { takes: name, fails: "throws" },
    session: {
      takes: {
        options: options({
          agent: text,
          level: oneOf(...permissionLevels),
          capabilities: object,
          human: object,
          naming: either(text, callback),
          pending: oneOf("list", "omit"),
          resourceTools: flag,
          history: flag,
        }),
      },
      fails: "throws",
    },
    why: { takes: { agent: text, tool: toolReference }, fails: "throws" },
    on: { takes: { type: text, handler: callback }, fails: "throws" },
  });
}

const hostOptions = options({
  cwd: text,
  home: text,
  servers: either(object, list),
  config: oneOf(false),
  configFiles: listOf(text),
  store: either(text, oneOf(false)),
  audit: oneOf("required"),
  watch: flag,
  startEager: flag,
  reconnect: flag,
  demo: either(flag, oneOf("unconfigured")),
  naming: either(text, callback),
  limits: object,
  human: object,
  resident: flag,
  sampling: callback,
  roots: either(list, callback),
  logger: either(object, oneOf(false)),
  clock: object,
  env: object,
  secrets: callback,
  protocolVersion: text,
  protocolCore: oneOf("core", "sdk"),
  clientInfo: object,
  idGenerator: callback,
});

/** Throws `config_invalid` for an option of a wrong type. */
export function checkHostOptions(given: unknown): void {
  checkArguments("createHost", { options: hostOptions }, [given], "config_invalid");
}
