import { fstatSync, statSync, writeSync } from "node:fs";

import type { OutputStream } from "./terminal.ts";

const descriptors = { stdout: 1, stderr: 2 } as const;

/** What an empty pipe takes on every system without a wait for its reader, during which no signal would be heard. */
const maxPipeBytes = 16 * 1_024;

/**
 * One of the two outputs of this process. Files, and pipes as long as little is written, are written to directly: for a
 * stream of its own Node loads 4 ms worth of modules.
 */
export function openOutput(name: keyof typeof descriptors): OutputStream {
  const descriptor = descriptors[name];
  const room = directRoom(descriptor);
  if (room === 0) return process[name];
  return new DirectOutput({ descriptor, room, openStream: () => process[name] });
}

/** How many bytes may be written to a descriptor before a stream has to take over; 0 for screens and whatever else. */
function directRoom(descriptor: number): number {
  if (process.platform === "win32") return 0;
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO() || stats.isSocket()) return maxPipeBytes;
    const isNothing = stats.isCharacterDevice() && stats.rdev === statSync("/dev/null").rdev;
    return stats.isFile() || isNothing ? Number.POSITIVE_INFINITY : 0;
  } catch {
    return 0;
  }
}

export interface DirectOutputOptions {
  readonly descriptor: number;
  /** How many bytes may be written without a stream. */
  readonly room: number;
  /** Gives the stream that takes over what does not fit, and everything after it. */
  readonly openStream: () => OutputStream;
}

/** Writes without a stream until one is needed, and fails as a stream does: by an event, and once. */
export class DirectOutput implements OutputStream {
  readonly #options: DirectOutputOptions;
  readonly #listeners: ((error: NodeJS.ErrnoException) => void)[] = [];
  #room: number;
  #stream: OutputStream | undefined;
  #hasFailed = false;

  constructor(options: DirectOutputOptions) {
    this.#options = options;
    this.#room = options.room;
  }

  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): void {
    this.#listeners.push(listener);
    this.#stream?.on(event, listener);
  }

  write(content: string | Uint8Array, done?: () => void): void {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    const rest = this.#stream === undefined ? this.#writeNow(bytes) : bytes;
    if (rest.length > 0) this.#stream ??= this.#openStream();
    if (this.#stream !== undefined) this.#stream.write(rest, done);
    else if (done !== undefined) process.nextTick(done);
  }

  /** Writes as much as fits; the rest. */
  #writeNow(bytes: Uint8Array): Uint8Array {
    let rest = bytes;
    if (this.#hasFailed || rest.length > this.#room)
      return this.#hasFailed ? new Uint8Array() : rest;
    this.#room -= rest.length;
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#options.descriptor, rest));
    } catch (error) {
      // A pipe that is full, and that somebody has told not to wait.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return rest;
      this.#fail(error as NodeJS.ErrnoException);
      return new Uint8Array();
    }
    return rest;
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#hasFailed = true;
    process.nextTick(() => {
      for (const listener of this.#listeners) listener(error);
    });
  }

  #openStream(): OutputStream {
    const stream = this.#options.openStream();
    for (const listener of this.#listeners) stream.on("error", listener);
    return stream;
  }
}
