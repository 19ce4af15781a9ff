import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { onTestFinished } from "vitest";

import { attachToResident } from "../../src/host/resident/attach.ts";
import type { AttachedHost, AttachOptions } from "../../src/host/resident/attached-host.ts";
import { SharedQuestions } from "../../src/host/resident/shared-questions.ts";
import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  type RecordedCall,
} from "../../src/testing/index.ts";
import { serveResident } from "../../src/web/serve-resident.ts";

export interface ResidentHost {
  readonly host: McpHost;
  readonly questions: SharedQuestions;
  /** Calls that reached the server, in order. */
  readonly calls: readonly RecordedCall[];
  /** Where the host was created: who passes this finds it. */
  readonly ground: HostOptions;
  /** Another process, as far as the host can tell. */
  readonly attach: (options?: AttachOptions) => Promise<AttachedHost>;
  /** Stops serving others, as a host does that ends. */
  readonly stop: () => Promise<void>;
}

export interface ResidentHostOptions {
  readonly tools: readonly unknown[];
  readonly answers?: (call: RecordedCall) => unknown;
  readonly host?: HostOptions;
}

/** A host with one in-memory server called `fake`, used by others over its socket. */
export async function residentHost(options: ResidentHostOptions): Promise<ResidentHost> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), "resident-")));
  const ground: HostOptions = { home, cwd: home, env: options.host?.env ?? {} };
  const calls: RecordedCall[] = [];
  const factory = createRecordedServer({
    tools: options.tools,
    answers: (call) => {
      calls.push(call);
      const text = JSON.stringify(call.arguments);
      return options.answers?.(call) ?? { content: [{ type: "text", text }] };
    },
  });
  const questions = new SharedQuestions();
  const host = await createHost({
    ...ground,
    servers: { fake: () => createMemoryServer(factory).transport },
    human: questions.humanFor(),
    sampling: questions.sampling,
    logger: false,
    ...options.host,
  });
  const { resident, reason } = await serveResident({ host, questions, options: ground });
  if (resident === undefined) throw new Error(reason);
  onTestFinished(async () => {
    await resident.close();
    await host.close();
    await rm(home, { recursive: true });
  });
  const attach = async (wish?: AttachOptions): Promise<AttachedHost> => {
    const { host: attached, reason: refusal } = await attachToResident(ground, wish);
    if (attached === undefined) throw new Error(refusal ?? "no host was found");
    onTestFinished(() => attached.close());
    return attached;
  };
  return { host, questions, calls, ground, attach, stop: () => resident.close() };
}
