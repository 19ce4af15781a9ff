import { toolReference } from "../catalog/tool-origin.ts";
import {
  anything,
  callback,
  type MethodTable,
  number,
  object,
  oneOf,
  options,
  optional,
  listOf,
  signal,
  text,
} from "../errors/check-arguments.ts";
import { permissionLevels } from "../policy/permission-level.ts";
import type { AgentSession } from "./agent-session.ts";
import type { AgentContent } from "./content/session-content.ts";

const callOptions = options({ signal, timeoutMs: number, onProgress: callback, callId: text });
const contentOptions = { signal, timeoutMs: number } as const;

/** The arguments of a session's methods. `call` checks its own: it is called too often to be wrapped. */
export const sessionMethods: MethodTable<AgentSession> = {
  find: { takes: { tool: toolReference }, fails: "throws" },
  why: { takes: { tool: toolReference }, fails: "throws" },
  ready: { takes: { options: options({ servers: listOf(text), signal }) }, fails: "rejects" },
  loadTools: { takes: { options: options({ signal }) }, fails: "rejects" },
  // Wrong arguments of a tool are an outcome of its call, so they are not checked here.
  execute: {
    takes: { tool: toolReference, args: anything, options: callOptions },
    fails: "rejects",
  },
  stream: { takes: { tool: toolReference, args: anything, options: callOptions }, fails: "throws" },
  dispatch: { takes: { envelope: object, options: callOptions }, fails: "rejects" },
  section: { takes: { options: options({ title: text, key: text }) }, fails: "throws" },
  promptTemplate: {
    takes: { server: text, name: text, options: options(contentOptions) },
    fails: "rejects",
  },
  defineTool: { takes: { definition: object }, fails: "throws" },
  transaction: { takes: { work: callback }, fails: "rejects" },
  child: {
    takes: {
      options: options({
        agent: text,
        level: oneOf(...permissionLevels),
        attenuate: listOf(text),
        human: object,
        tools: listOf(text),
      }),
    },
    fails: "throws",
  },
  on: { takes: { type: text, handler: callback }, fails: "throws" },
};

const listing = {
  takes: { options: options({ ...contentOptions, server: text, onList: callback }) },
  fails: "rejects",
} as const;

/** The arguments of the methods of `session.content`. */
export const contentMethods: MethodTable<AgentContent> = {
  resources: listing,
  resourceTemplates: listing,
  prompts: listing,
  readResource: {
    takes: { server: text, uri: text, options: options(contentOptions) },
    fails: "rejects",
  },
  watchResource: {
    takes: { server: text, uri: text, onUpdate: callback, options: options(contentOptions) },
    fails: "rejects",
  },
  prompt: {
    takes: { server: text, name: text, args: optional(object), options: options(contentOptions) },
    fails: "rejects",
  },
  complete: {
    takes: {
      server: text,
      question: { ...object, members: { of: object } },
      options: options(contentOptions),
    },
    fails: "rejects",
  },
};
