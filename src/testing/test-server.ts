import type { McpServerFactory } from "@modelcontextprotocol/server";

import { type Clock, systemClock } from "../ports/clock.ts";
import { type ServedTool, defineServer } from "./define-server.ts";
import { textResult } from "./tool-result.ts";

export interface TestServerOptions {
  readonly clock?: Clock | undefined;
  /** At most this many items per list answer; without it every list is one page. */
  readonly pageSize?: number | undefined;
}

/** The smallest useful server: `echo`, `get_time` and `add`, listed in this order, in both eras. */
export function createTestServer(options: TestServerOptions = {}): McpServerFactory {
  const { clock = systemClock, pageSize } = options;
  return defineServer({ name: "plugboard-test", tools: createTestTools(clock), pageSize });
}

/** Claims of a tool that changes nothing and reaches nothing outside the server. */
export const harmless = { readOnlyHint: true, openWorldHint: false } as const;

export function createTestTools(clock: Clock): readonly ServedTool[] {
  return [
    {
      definition: {
        name: "echo",
        description: "Returns the message it was given.",
        inputSchema: {
          type: "object",
          properties: { message: { type: "string", description: "The text to return" } },
          required: ["message"],
        },
        annotations: harmless,
      },
      run: ({ message }) => textResult(String(message)),
    },
    {
      definition: {
        name: "get_time",
        description: "Returns the current date and time.",
        inputSchema: { type: "object", properties: {} },
        annotations: harmless,
      },
      run: () => textResult(new Date(clock.now()).toISOString()),
    },
    {
      definition: {
        name: "add",
        description: "Adds two numbers.",
        inputSchema: {
          type: "object",
          properties: {
            a: { type: "number", description: "First number" },
            b: { type: "number", description: "Second number" },
          },
          required: ["a", "b"],
        },
        annotations: harmless,
      },
      run: ({ a, b }) => textResult(String(Number(a) + Number(b))),
    },
  ];
}
