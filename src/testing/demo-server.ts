import { type McpServerFactory, inputRequired, inputResponse } from "@modelcontextprotocol/server";

import { type Clock, systemClock } from "../ports/clock.ts";
import { type ServedTool, type ToolCall, defineServer } from "./define-server.ts";
import { demoPrompts, demoResources } from "./demo-content.ts";
import { type TestServerOptions, createTestTools, harmless } from "./test-server.ts";
import { errorResult, textResult } from "./tool-result.ts";

export interface DemoServerOptions extends TestServerOptions {
  /**
   * Ends the process for the tool `crash`. Only a server that has its process to itself gives one;
   * without it the tool answers with an error.
   */
  readonly crash?: (() => void) | undefined;
}

/**
 * The bundled demo server: the test tools and one tool for each thing a host has to cope with
 * (progress, a failing tool, a dying process, a destructive tool, a question to the user), with
 * resources and prompts. Notes deleted from it stay deleted for the life of the factory.
 */
export function createDemoServer(options: DemoServerOptions = {}): McpServerFactory {
  const { clock = systemClock, pageSize, crash } = options;
  return defineServer({
    name: "plugboard-demo",
    pageSize,
    tools: [
      ...createTestTools(clock),
      slowTool(clock),
      failTool,
      crashTool(crash),
      deleteNoteTool(),
      askNameTool,
    ],
    resources: demoResources,
    prompts: demoPrompts,
  });
}

/** Claims of a tool that is neither read-only nor destroys anything. */
const additive = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

function slowTool(clock: Clock): ServedTool {
  return {
    definition: {
      name: "slow",
      description: "Works in steps and reports each as it begins.",
      inputSchema: {
        type: "object",
        properties: {
          steps: { type: "integer", minimum: 1, maximum: 100, description: "How many steps" },
          delayMs: {
            type: "integer",
            minimum: 0,
            maximum: 60_000,
            default: 200,
            description: "Milliseconds per step",
          },
        },
        required: ["steps"],
      },
      annotations: harmless,
    },
    async run({ steps, delayMs = 200 }, call) {
      const total = Number(steps);
      for (let step = 1; step <= total; step += 1) {
        await call.reportProgress(step, total);
        await pause(clock, Number(delayMs), call.signal);
      }
      return textResult(`Finished ${total} steps.`);
    },
  };
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      reject(signal.reason as Error);
    };
    const timer = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

const failTool: ServedTool = {
  definition: {
    name: "fail",
    description: "Always answers with an error.",
    inputSchema: { type: "object", properties: {} },
    annotations: additive,
  },
  run: () => errorResult("This tool always fails."),
};

function crashTool(crash: (() => void) | undefined): ServedTool {
  return {
    definition: {
      name: "crash",
      description: "Ends the server process with exit code 1 without answering.",
      inputSchema: { type: "object", properties: {} },
      annotations: additive,
    },
    run(_args, { signal }) {
      if (crash === undefined) return errorResult("Only a server over stdio can crash.");
      crash();
      return untilAborted(signal);
    },
  };
}

/** Never resolves, so that a call whose process is about to end is not answered first. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function deleteNoteTool(): ServedTool {
  const notes = new Set(["n1", "n2", "n3"]);
  return {
    definition: {
      name: "delete_note",
      description: "Deletes a note for good. The notes are n1, n2 and n3.",
      inputSchema: {
        type: "object",
        properties: { id: { type: "string", description: "The id of the note" } },
        required: ["id"],
      },
      annotations: { ...additive, destructiveHint: true },
    },
    run({ id }) {
      if (!notes.delete(String(id))) return errorResult(`There is no note ${String(id)}.`);
      return textResult(`Deleted note ${String(id)}.`);
    },
  };
}

const askNameTool: ServedTool = {
  definition: {
    name: "ask_name",
    description: "Asks the user for a name and greets them.",
    inputSchema: { type: "object", properties: {} },
    annotations: additive,
  },
  run(_args, call) {
    if (!canAnswerForms(call))
      return errorResult("This client cannot ask its user (it offers no elicitation).");
    const response = inputResponse(call.inputResponses, "name");
    if (response.kind !== "elicit") return inputRequired({ inputRequests: { name: nameQuestion } });
    const name = response.action === "accept" ? response.content?.["name"] : undefined;
    return textResult(
      typeof name === "string" ? `Hello, ${name}!` : "You kept your name to yourself.",
    );
  },
};

const nameQuestion = inputRequired.elicit({
  message: "What is your name?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", title: "Name" } },
    required: ["name"],
  },
});

/** An empty `elicitation` capability means forms; a client may also offer URLs only. */
function canAnswerForms({ clientCapabilities }: ToolCall): boolean {
  const elicitation = clientCapabilities?.elicitation;
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
