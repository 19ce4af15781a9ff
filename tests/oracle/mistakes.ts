import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { coreSubject } from "./core-subject.ts";
import type { Failure } from "./observation.ts";
import type { Connected, ConnectContext, Subject } from "./subject.ts";

/** What a client could get wrong, done to ours on purpose. */
interface Mistake {
  /** Changes what an operation resolves to. */
  readonly result?: (value: Record<string, unknown>) => unknown;
  readonly failure?: (failure: Failure) => Failure;
  /** Changes what is sent; undefined means not at all. */
  readonly sent?: (message: JSONRPCMessage) => JSONRPCMessage | undefined;
}

export const mistakes: Readonly<Record<string, Mistake>> = {
  "loses the last block of a result": {
    result: ({ content, ...rest }) => ({
      ...rest,
      ...(Array.isArray(content) && { content: content.slice(0, -1) }),
    }),
  },
  "adds a member that nobody sent": {
    result: (value) => ({ ...value, structuredContent: { made: "up" } }),
  },
  "loses a tool": {
    result: ({ tools, ...rest }) => ({
      ...rest,
      ...(Array.isArray(tools) && { tools: tools.slice(1) }),
    }),
  },
  "takes failed calls for successful ones": {
    result: (value) => ("isError" in value ? { ...value, isError: false } : value),
  },
  "loses what an error says beside its text": {
    failure: (failure) =>
      failure.kind === "rpc"
        ? { kind: "rpc", code: failure.code, message: failure.message }
        : failure,
  },
  "calls a timeout cancelled": {
    failure: (failure) => (failure.kind === "timeout" ? { kind: "cancelled" } : failure),
  },
  "does not tell the server what it has given up": {
    sent: (message) => (methodOf(message) === "notifications/cancelled" ? undefined : message),
  },
  "leaves requests of the server unanswered": {
    sent: (message) => (methodOf(message) === undefined ? undefined : message),
  },
  "forgets the arguments of a call": {
    sent: (message) =>
      "params" in message && methodOf(message) === "tools/call"
        ? { ...message, params: { ...message.params, arguments: {} } }
        : message,
  },
};

function methodOf(message: JSONRPCMessage): string | undefined {
  return "method" in message ? message.method : undefined;
}

/** Our core with a mistake in it. */
export function mistaken({ result, failure, sent }: Mistake): Subject {
  return {
    async connect(context: ConnectContext): Promise<Connected> {
      const { transport } = context;
      if (sent !== undefined) {
        const send = transport.send.bind(transport);
        transport.send = (message, options) => {
          const changed = sent(message);
          return changed === undefined ? Promise.resolve() : send(changed, options);
        };
      }
      const client = await coreSubject.connect(context);
      return {
        server: client.server,
        close: () => client.close(),
        async run(operation, options) {
          const value = (await client.run(operation, options)) as Record<string, unknown>;
          return result === undefined ? value : result(value);
        },
      };
    },
    failureOf(error, isOpen) {
      const plain = coreSubject.failureOf(error, isOpen);
      return failure === undefined ? plain : failure(plain);
    },
  };
}
