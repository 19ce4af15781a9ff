import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { HostTransport } from "../../src/transport/host-transport.ts";
import { createMemoryTransportPair } from "../../src/transport/memory-transport.ts";
import { createStdioTransport } from "../../src/transport/stdio/stdio-transport.ts";
import { ScriptPlayer } from "./peer/script-player.mjs";
import { Stage, transportParts } from "./stage.ts";
import type { Transcript } from "./transcript.ts";

/** A server at the other end of a pipe: it says after each message how many it has dealt with. */
class PipeStage extends Stage {
  readonly #cleanUp: () => void;
  #receivedCount = 0;

  constructor(transport: HostTransport, cleanUp: () => void = () => undefined) {
    super(transport);
    this.#cleanUp = cleanUp;
    this.transport.onmarker = ({ received }) => {
      this.#receivedCount = received as number;
    };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#cleanUp();
  }

  protected override isIdle(): boolean {
    const { isClosed, sent } = this.transport;
    return isClosed || this.#receivedCount === sent.length;
  }
}

/** The server is in this process, at the other end of our in-memory transport. */
export async function openMemoryStage({ reactions }: Transcript): Promise<Stage> {
  const [client, server] = createMemoryTransportPair({ serverName: transportParts.serverName });
  const send = (message: unknown): void => {
    // The client may have closed the connection meanwhile.
    server.send(message as JSONRPCMessage).catch(() => undefined);
  };
  let receivedCount = 0;
  const player = new ScriptPlayer(reactions, {
    send: (line) => {
      const message = parseLine(line);
      if (message !== undefined) send(message);
    },
    end: () => void server.close(),
  });
  server.onmessage = (message) => {
    receivedCount += 1;
    player.react(player.arrive(message));
    send({ oracle: { received: receivedCount } });
  };
  await server.start();
  return new PipeStage(client);
}

/** Values travel in memory, not text, so a line that is no JSON has no counterpart there. */
function parseLine(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The server is a child process. */
export async function openStdioStage({ reactions }: Transcript): Promise<Stage> {
  const folder = mkdtempSync(path.join(tmpdir(), "oracle-"));
  const file = path.join(folder, "transcript.json");
  writeFileSync(file, JSON.stringify({ reactions }));
  const transport = createStdioTransport({
    ...transportParts,
    command: process.execPath,
    args: [path.join(import.meta.dirname, "peer/stdio-peer.mjs"), file],
    env: {},
  });
  return new PipeStage(transport, () => rmSync(folder, { recursive: true }));
}
