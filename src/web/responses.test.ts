import { describe, expect, it } from "vitest";

import { createError } from "../errors/families.ts";
import { errorResponse, lineResponse, readBody } from "./responses.ts";

const never = new AbortController().signal;

async function linesOf(response: Response): Promise<readonly unknown[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

describe("an answer in lines", () => {
  it("ends with its work, and tells what the work failed with", async () => {
    const good = lineResponse(never, async (write) => {
      write({ step: 1 });
      write({ step: 2 });
    });
    expect(await linesOf(good)).toEqual([{ step: 1 }, { step: 2 }]);
    const bad = lineResponse(never, async (write) => {
      write({ step: 1 });
      throw createError("timeout", "too slow", { serverName: "files" });
    });
    expect(await linesOf(bad)).toMatchObject([
      { step: 1 },
      { error: { code: "timeout", message: "too slow", serverName: "files" } },
    ]);
  });

  it("tells the work when the reader goes", async () => {
    let stopped: (() => void) | undefined;
    const stop = new Promise<void>((resolve) => (stopped = resolve));
    const response = lineResponse(never, async (write, signal) => {
      write({ step: 1 });
      signal.addEventListener("abort", () => stopped?.());
      await stop;
    });
    await response.body?.cancel();
    await stop;
  });

  it("gives up a reader that does not read, instead of keeping everything for it", async () => {
    const filling = "x".repeat(1_024 * 1_024);
    let written = 0;
    let isGone = false;
    const response = lineResponse(never, async (write, signal) => {
      while (!signal.aborted && written < 100) {
        write({ filling });
        written += 1;
      }
      isGone = signal.aborted;
    });
    await Promise.resolve();
    expect({ isGone, isBounded: written <= 18 }).toEqual({ isGone: true, isBounded: true });
    await expect(response.text()).rejects.toThrow("nobody reads the answer");
  });
});

describe("requests and errors", () => {
  it("a body is an object or nothing", async () => {
    const post = (body: string): Request => new Request("http://x/", { method: "POST", body });
    expect(await readBody(post(""))).toEqual({});
    expect(await readBody(post('{"a":1}'))).toEqual({ a: 1 });
    for (const body of ["[1]", "1", "{", '"a"'])
      await expect(readBody(post(body))).rejects.toMatchObject({ code: "invalid_arguments" });
  });

  it("what is no error of ours is told without its text", async () => {
    const response = errorResponse(new Error("password is hunter2"));
    expect(await response.text()).not.toContain("hunter2");
    expect(errorResponse(createError("server_unknown", "no such")).status).toBe(404);
  });
});
