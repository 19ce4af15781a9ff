import { constants, createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { redact } from "../../text/secrets/redact.ts";
import { truncate } from "../../text/truncate.ts";

/** One argument as it was typed, its file read, but not yet fitted to the tool's schema. */
export type TypedArgument = { readonly key: string } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "json"; readonly value: unknown }
);

const maxInputBytes = 10 * 1_024 * 1_024;

/** Reads `key=value`, `key:=json`, `key=@file` and `key:=@file`. */
export async function readCallWords(
  words: readonly string[],
  signal: AbortSignal,
): Promise<readonly TypedArgument[]> {
  const typed = await Promise.all(words.map((word) => readWord(word, signal)));
  const keys = new Set<string>();
  for (const { key } of typed) {
    if (keys.has(key)) throw badInput(`the argument "${key}" is given twice`);
    keys.add(key);
  }
  return typed;
}

async function readWord(word: string, signal: AbortSignal): Promise<TypedArgument> {
  const match = /^([^=]+?)(:?)=(.*)$/s.exec(word);
  if (match === null)
    throw createError("invalid_arguments", `"${redact(truncate(word, 80))}" is no argument`, {
      hint: "write arguments as key=value, key:=json or key=@file",
    });
  const [, key = "", colon, rest = ""] = match;
  const text = rest.startsWith("@") ? await readTextFile(rest.slice(1), signal) : rest;
  if (colon === "") return { key, kind: "text", text };
  return { key, kind: "json", value: parseJson(text, `the value of "${key}"`) };
}

/** Reads an object: JSON as it stands, `@file`, or `-` for stdin. `what` names it in errors. */
export async function readJsonObject(
  option: string,
  what: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const value = parseJson(await readOptionText(option, signal), what);
  if (!isJsonObject(value)) throw badInput(`${what} is not a JSON object`);
  return value;
}

/** Reads all that is piped to the command. */
export async function readStdin(signal: AbortSignal): Promise<string> {
  return await readText(process.stdin, "stdin", signal);
}

async function readOptionText(option: string, signal: AbortSignal): Promise<string> {
  if (option === "-") return await readStdin(signal);
  return option.startsWith("@") ? await readTextFile(option.slice(1), signal) : option;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message would repeat the value.
    throw badInput(`${what} is not valid JSON`);
  }
}

async function readTextFile(file: string, signal: AbortSignal): Promise<string> {
  const what = `the file "${file}"`;
  const isPipe = await stat(file).then(
    (stats) => stats.isFIFO(),
    (error: unknown) => {
      throw readProblem(error, what);
    },
  );
  return await readText(isPipe ? readPipe(file, signal) : createReadStream(file), what, signal);
}

const pipePauseMs = 20;

/**
 * What is written into a pipe, until its last writer closes it or `signal` aborts. A read that waits for a writer
 * would hold a thread, and the process could not end before it: this one looks again and again.
 */
async function* readPipe(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const pipe = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  // That of `<(command)` has had its writer; for one with a name somebody may still come.
  let hadWriter = /^\/(?:dev|proc)\//.test(file);
  try {
    while (!signal.aborted) {
      const { bytesRead, buffer } = await pipe.read().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EAGAIN") throw error;
        return { bytesRead: undefined, buffer: undefined };
      });
      if (bytesRead === 0 && hadWriter) return;
      if (bytesRead !== 0) hadWriter = true;
      if (buffer !== undefined && bytesRead > 0) yield buffer.subarray(0, bytesRead);
      else await setTimeout(pipePauseMs);
    }
  } finally {
    await pipe.close();
  }
}

/** Bounded whatever is behind the stream: a pipe that never ends, a device, a terminal nobody types on. */
async function readText(
  stream: AsyncIterable<Buffer> & { readonly destroy?: () => unknown },
  what: string,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => void stream.destroy?.();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > maxInputBytes) throw badInput(`${what} is larger than 10 MiB`);
      chunks.push(chunk);
    }
    signal.throwIfAborted();
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (signal.aborted) throw createError("cancelled", "cancelled before anything was run");
    throw readProblem(error, what);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function readProblem(error: unknown, what: string): unknown {
  if (error instanceof TypeError) return badInput(`${what} is not UTF-8 text`);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return badInput(`${what} does not exist`);
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? error
    : badInput(`${what} cannot be read (${code ?? "unknown reason"})`);
}

function badInput(message: string): McpError {
  return createError("invalid_arguments", message);
}
