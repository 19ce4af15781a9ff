import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";

import { afterEach, describe, expect, it } from "vitest";

import { isAlive } from "../../../tests/fixtures/is-alive.ts";
import {
  closeOpened,
  fixtures,
  message,
  observe,
  type ObserveOptions,
  recordingLogger,
  say,
  scripted,
  serve,
} from "../../../tests/fixtures/stdio/observe-server.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { childEnvironment } from "../../isolation/process/child-environment.ts";
import { secretForms } from "../../text/secrets/secret-forms.ts";

afterEach(closeOpened);

describe("talking to a server", () => {
  it.each([
    { count: 2_000, maxPieceBytes: 1 },
    { count: 10_000, maxPieceBytes: 7 },
    { count: 100_000, maxPieceBytes: 100_000 },
  ])(
    "STD-01 STD-07 A4: $count pipelined messages come back byte for byte in pieces of up to $maxPieceBytes bytes",
    async ({ count, maxPieceBytes }) => {
      const args = [path.join(fixtures, "echo.mjs"), "42", String(maxPieceBytes)];
      const { transport } = observe({ args });
      const text = (index: number): string => `${index} é€😀\u2028 "\\ ${"x".repeat(index % 97)}`;
      let received = 0;
      let mismatches = 0;
      const done = new Promise<void>((resolve) => {
        transport.onmessage = (raw) => {
          const { id, method } = raw as unknown as { id: number; method: string };
          if (id !== received || method !== text(received)) mismatches += 1;
          received += 1;
          if (received === count) resolve();
        };
      });
      await transport.start();
      for (let id = 0; id < count; id += 1)
        await transport.send({ jsonrpc: "2.0", id, method: text(id) });
      await done;
      expect(mismatches).toBe(0);
    },
  );

  it("STD-18: blank lines, CRLF, several messages in one chunk and split characters are all fine", async () => {
    const text = '\n\r\n{"a":"é"}\r\n{"b":1}\n  {"c":2}  \n\uFEFF{"d":3}\n';
    const bytes = Buffer.from(text);
    const pieces = [...bytes].map((byte) => Buffer.from([byte]).toString("hex"));
    const observed = await serve([
      { do: "bytes", pieces },
      { do: "bytes", pieces: [bytes.toString("hex")] },
    ]);
    const expected = [{ a: "é" }, { b: 1 }, { c: 2 }, { d: 3 }];
    expect(await observed.received(8)).toStrictEqual([...expected, ...expected]);
    expect(observed.transport.evidence.junkMessages).toBe(0);
  });

  it("MSG-11: a batch is handed on whole: whether the revision has any is for the protocol to say", async () => {
    const observed = await serve([say('[{"id":1},{"id":2}]\n[]\n[3,{"id":4}]\n{"id":5}\n')]);
    expect(await observed.received(3)).toStrictEqual([
      [{ id: 1 }, { id: 2 }],
      [3, { id: 4 }],
      { id: 5 },
    ]);
    expect(observed.transport.evidence.junkMessages).toBe(1);
  });

  it("MSG-11: a batch of more messages than anyone asked for ends the connection", async () => {
    const observed = await serve([say(`[${"{},".repeat(1_000)}{}]\n`)]);
    await expect(observed.closed).resolves.toMatchObject({ code: "protocol_violation" });
    expect(observed.messages).toStrictEqual([]);
  });

  it("A22: a message of too many values is refused before it is whole", async () => {
    const observed = await serve([{ do: "stdout", text: "[[],[],[]],", times: 200_000 }]);
    await expect(observed.closed).resolves.toMatchObject({
      code: "too_large",
      message: "the server sent a message of more than 1000000 values",
    });
  });

  it("a handler that fails takes nothing from the messages that follow", async () => {
    const logger = recordingLogger();
    const observed = observe({
      args: [scripted, JSON.stringify([say('{"id":1}\n{"id":2}\n')])],
      logger,
    });
    const { transport } = observed;
    const deliver = transport.onmessage!;
    transport.onmessage = (raw) => {
      deliver(raw);
      throw new Error("handler");
    };
    await transport.start();
    await expect(observed.received(2)).resolves.toHaveLength(2);
    expect(logger.records.map(({ text }) => text)).toContain("a handler of the transport failed");
  });

  it("STD-11 TRN-05: nothing can be sent before the start, after the end or after `close()`", async () => {
    const unstarted = observe({});
    await expect(unstarted.transport.send(message(1))).rejects.toMatchObject({
      code: "not_connected",
    });
    const lost = await serve([say("{}\n"), { do: "exit", code: 0 }]);
    const failure = await lost.closed;
    await expect(lost.transport.send(message(1))).rejects.toBe(failure);
    const closed = await serve([]);
    await closed.transport.close();
    await expect(closed.transport.send(message(1))).rejects.toMatchObject({ code: "closed" });
  });
});

describe("limits on what a server sends", () => {
  it("STD-14 A1: a line of 60 MiB ends the connection long before it is read", async () => {
    const observed = await serve([say("{}\n"), say("x", 60 * 1_024 * 1_024), say("\n")]);
    await expect(observed.closed).resolves.toMatchObject({
      code: "too_large",
      serverName: "files",
      details: { limitBytes: 10 * 1_024 * 1_024 },
    });
    await observed.transport.close();
    // Had it been read to its end, the script would have ended without an error of its own.
    expect(observed.transport.evidence.stderrTail?.join("\n")).toContain("EPIPE");
    expect(isAlive(observed.pid)).toBe(false);
  });

  it("STD-14: the limit is met by a message of exactly that size", async () => {
    const text = JSON.stringify({ a: "x".repeat(1_000) });
    const overrides = { maxMessageBytes: text.length };
    const observed = await serve([say(`${text}\n`), say(`${text}\r\n`), say(`${text} \n`)], {
      overrides,
    });
    await expect(observed.closed).resolves.toMatchObject({ code: "too_large" });
    expect(observed.messages).toHaveLength(2);
  });

  it("A11: a message nested deeper than the limit ends the connection without being delivered", async () => {
    const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}\n`;
    const observed = await serve([say(nested(200)), say(nested(201)), say("{}\n")]);
    await expect(observed.closed).resolves.toMatchObject({ code: "protocol_violation" });
    expect(observed.messages).toHaveLength(1);
  });

  it("STD-19 A3: lines that are no message are counted, and the first is shown once, made safe", async () => {
    const logger = recordingLogger();
    const junk = `\u001B[31mnpm\u001B[0m notice hunter22secret ${"y".repeat(500)}\n`;
    const observed = await serve(
      [say(junk), say('{"id":1}\n'), say('42\nnull\n"x"\n[1]\n{broken\n'), say('{"id":2}\n')],
      { logger, secrets: ["hunter22secret"] },
    );
    expect(await observed.received(2)).toStrictEqual([{ id: 1 }, { id: 2 }]);
    expect(observed.transport.evidence.junkMessages).toBe(6);
    expect(logger.records).toHaveLength(1);
    const { line } = logger.records[0]!.fields as { readonly line: string };
    expect(line).toMatch(/^npm notice \[redacted\] y+…$/);
    expect(line).toHaveLength(200);
  });

  it("STD-19: ten thousand such lines in a row are tolerated, one more is not", async () => {
    const observed = await serve([
      say("junk\n", 10_000),
      say("{}\n"),
      say("junk\n", 10_001),
      say("{}\n"),
    ]);
    await expect(observed.closed).resolves.toMatchObject({
      code: "protocol_violation",
      details: { line: "junk", junkMessages: 20_001 },
    });
    expect(observed.messages).toHaveLength(1);
  });

  it("STD-19: such lines, blank ones included, may not be larger than a message in all", async () => {
    const overrides = { maxMessageBytes: 1_000 };
    const fine = await serve([say("junk junk\n", 99), say("{}\n"), say("\n", 999), say("{}\n")], {
      overrides,
    });
    await expect(fine.received(2)).resolves.toHaveLength(2);
    for (const flood of ["junk junk\n", "\n"]) {
      const observed = await serve([say(flood, 1_001), say("{}\n")], { overrides });
      await expect(observed.closed).resolves.toMatchObject({ code: "protocol_violation" });
      expect(observed.messages).toStrictEqual([]);
    }
  });

  it("STD-19: a strict connection ends at the first of them, with what it was", async () => {
    const observed = await serve([say("Listening\u0007 on stdio\n{}\n")], { strict: true });
    await expect(observed.closed).resolves.toMatchObject({
      code: "protocol_violation",
      details: { line: "Listening\uFFFD on stdio" },
    });
    expect(observed.messages).toStrictEqual([]);
  });
});

describe("stderr", () => {
  it("STD-20 A18: the last twenty lines are kept, without escape sequences and secrets", async () => {
    const logger = recordingLogger();
    const text = `\u001B]0;title\u0007one ghp_${"a".repeat(36)} \u001B[2Jtop-secret-value\n`;
    const observed = await serve(
      [
        { do: "stderr", text: "old\n" },
        { do: "stderr", text, times: 20 },
        { do: "stderr", text: "half" },
        say("{}\n"),
      ],
      { logger, secrets: ["top-secret-value"] },
    );
    await observed.received(1);
    await observed.transport.close();
    const line = "one [redacted] [redacted]";
    const lines = Array.from({ length: 19 }, () => line);
    expect(observed.transport.evidence.stderrTail).toStrictEqual([...lines, "half"]);
    expect(logger.records.map(({ text: shown }) => shown)).toContain(line);
    expect(JSON.stringify(logger.records)).not.toMatch(/top-secret|ghp_|\\u001b/i);
  });

  it("STD-20 A17: a flood neither stops the server nor is kept", async () => {
    const logger = recordingLogger();
    const flood = { do: "stderr", text: `${"z".repeat(1_023)}\n`, times: 64 * 1_024 };
    const observed = await serve([flood, { do: "stderr", text: "last words\n" }, say("{}\n")], {
      logger,
    });
    await observed.received(1);
    await observed.transport.close();
    const tail = observed.transport.evidence.stderrTail ?? [];
    expect(tail).toHaveLength(20);
    expect(tail.at(-1)).toBe("last words");
    expect(Math.max(...tail.map((line) => line.length))).toBe(500);
    expect(logger.records.length).toBeLessThan(1_000);
  });

  it("STD-20 §7: the last 256 KiB are kept: a line that does not fit is left out, one that does is shown", async () => {
    const almost = [
      { do: "stderr", text: "z".repeat(4_096), times: 63 },
      { do: "stderr", text: "z".repeat(4_095) },
    ];
    const tails = await Promise.all(
      ["z\n", "\n"].map(async (text) => {
        const observed = await serve([...almost, { do: "stderr", text }, say("{}\n")]);
        await observed.received(1);
        await observed.transport.close();
        return observed.transport.evidence.stderrTail;
      }),
    );
    expect(tails).toStrictEqual([[], [`${"z".repeat(499)}…`]]);
  });

  it("A18: a secret of several lines is hidden line by line", async () => {
    const key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----";
    const steps = [{ do: "stderr", text: `bad key: ${key}\n` }, say("{}\n")];
    const observed = await serve(steps, { secrets: secretForms(key) });
    await observed.received(1);
    await observed.transport.close();
    const tail = ["bad key: [redacted]", "[redacted]", "[redacted]"];
    expect(observed.transport.evidence.stderrTail).toStrictEqual(tail);
  });

  it("STD-20: what is written there is no failure", async () => {
    const observed = await serve([{ do: "stderr", text: "fatal error\n" }, say('{"id":1}\n')]);
    await observed.received(1);
    expect(observed.transport.failure).toBeUndefined();
    expect(observed.closes).toBe(0);
  });
});

describe("starting", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "stdio-"));
  const script = (name: string, text: string, mode: number): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  };

  async function startFailure(options: ObserveOptions): Promise<McpError> {
    const observed = observe(options);
    const error = await observed.transport.start().then(
      () => undefined,
      (reason: McpError) => reason,
    );
    expect(observed.transport.failure).toBe(error);
    expect(observed.closes).toBe(1);
    await observed.transport.close();
    expect(observed.closes).toBe(1);
    return error!;
  }

  it("STD-21 B16: a missing command is named, with the number of folders that were searched", async () => {
    const env = { PATH: "/usr/bin:/bin::/nowhere" };
    expect(await startFailure({ command: "npxx", env })).toMatchObject({
      code: "command_not_found",
      message: 'command not found: "npxx"',
      serverName: "files",
      retryable: false,
      hint: expect.stringContaining("full path"),
      details: { command: "npxx", pathFolders: 3 },
    });
  });

  it("STD-21 B16: a file that may not be executed is called that", async () => {
    const command = script("not-executable", "#!/bin/sh\n", 0o644);
    expect(await startFailure({ command })).toMatchObject({
      code: "command_not_found",
      message: `command is not executable: ${JSON.stringify(command)}`,
      hint: expect.stringContaining("chmod"),
    });
  });

  it("STD-21: a script whose interpreter is missing is not called missing itself", async () => {
    const command = script("no-interpreter", "#!/nowhere/python3\n", 0o755);
    expect(await startFailure({ command })).toMatchObject({
      code: "command_not_found",
      message: expect.stringContaining("the interpreter that"),
    });
  });

  it("STD-16 STD-21 B16: a working folder that is none is named, not the command", async () => {
    const cwd = path.join(folder, "absent");
    expect(await startFailure({ cwd })).toMatchObject({
      code: "config_invalid",
      message: `the working folder ${JSON.stringify(cwd)} does not exist`,
      details: { cwd },
    });
    const file = script("a-file", "", 0o644);
    expect((await startFailure({ cwd: file })).message).toMatch(/is not a folder$/);
  });

  it("B16: a command line longer than the system takes is a typed error", async () => {
    expect(await startFailure({ args: ["x".repeat(1_000_000)] })).toMatchObject({
      code: "config_invalid",
      details: { errno: "E2BIG" },
    });
  });

  it("B16 I6: a NUL in an argument is a typed error, and no trace of it shows the argument", async () => {
    const error = await startFailure({ args: ["canary\0b"] });
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(inspect(error, { depth: 9 })).not.toContain("canary");
  });

  it("STD-17 STD-22: arguments reach the server as they are, no shell in between", async () => {
    const args = [
      "-p",
      "JSON.stringify({argv: process.argv.slice(1)})",
      "$(id) `id` && x; * 'é'",
      "",
    ];
    const observed = observe({ args });
    await observed.transport.start();
    await observed.closed;
    expect(observed.messages).toStrictEqual([{ argv: args.slice(2) }]);
  });

  it("STD-16: the server runs in the folder it was given", async () => {
    const observed = observe({ args: ["-p", "JSON.stringify({cwd: process.cwd()})"], cwd: folder });
    await observed.transport.start();
    await observed.closed;
    expect(observed.messages).toStrictEqual([{ cwd: folder }]);
  });

  it("STD-21 B7: a server that ends during start is reported with exit code and stderr", async () => {
    const observed = await serve([
      { do: "stderr", text: "Error: no such folder './x'\n" },
      { do: "exit", code: 3 },
    ]);
    const failure = await observed.closed;
    expect(failure).toMatchObject({
      code: "start_exit",
      message: expect.stringMatching(
        /^the server stopped during start \(exit code 3 after \d+\.\d s\): Error: no such folder '\.\/x'$/,
      ),
      details: {
        exitCode: 3,
        signal: null,
        afterMs: expect.any(Number),
        command: expect.stringContaining("scripted.mjs"),
        stderrTail: ["Error: no such folder './x'"],
      },
    });
    expect(observed.transport.evidence).toMatchObject({ exitCode: 3, signal: null });
  });

  it("STD-21: the server that ended is reported as such even if writing to it failed first", async () => {
    const observed = await serve([{ do: "exit", code: 4 }]);
    const text = "x".repeat(1_000_000);
    const sends = [1, 2, 3].map((id) =>
      observed.transport.send({ jsonrpc: "2.0", id, method: text }),
    );
    await Promise.allSettled(sends);
    await expect(observed.closed).resolves.toMatchObject({
      code: "start_exit",
      details: { exitCode: 4 },
    });
  });

  it("B7: a server killed by a signal is reported with the signal", async () => {
    const observed = await serve([{ do: "kill", signal: "SIGSEGV" }]);
    await expect(observed.closed).resolves.toMatchObject({
      code: "start_exit",
      message: expect.stringContaining("signal SIGSEGV"),
      details: { exitCode: null, signal: "SIGSEGV" },
    });
  });

  it("secrets in the command line are not shown", async () => {
    const { transport } = observe({
      args: ["--key", "swordfish-9", "--token=abcdef"],
      secrets: ["swordfish-9"],
    });
    expect(transport.evidence.target).toBe(
      `${process.execPath} --key [redacted] --token=[redacted]`,
    );
  });
});

describe("what the transport stands on", () => {
  /** The modules `file` and its own modules load when they are loaded; types are not loaded. */
  function loadedBy(file: string, seen = new Set<string>()): Set<string> {
    const source = readFileSync(file, "utf8");
    for (const [, isType, name] of source.matchAll(/^import (type )?[^"]*?from "([^"]+)";$/gms)) {
      if (isType !== undefined || name === undefined) continue;
      const module = name.startsWith(".") ? path.resolve(path.dirname(file), name) : name;
      if (seen.has(module)) continue;
      seen.add(module);
      if (module !== name) loadedBy(module, seen);
    }
    return seen;
  }

  it("STD-15 STD-25: no package, and nothing that could reach a network", () => {
    const modules = loadedBy(path.resolve("src/transport/stdio/stdio-transport.ts"));
    const foreign = [...modules].filter((name) => !path.isAbsolute(name)).toSorted();
    expect(foreign).toStrictEqual([
      "node:child_process",
      "node:events",
      "node:fs",
      "node:path",
      "node:string_decoder",
      "node:timers/promises",
    ]);
  });
});

describe("the environment of the server", () => {
  it("ENV-02 ENV-11 ENV-17 C6: the server sees what was computed for it, and the marker", async () => {
    const env = {
      ...childEnvironment({
        hostEnv: { PATH: process.env["PATH"], CANARY: "canary", PASSED: "p" },
        env: { NODE_ENV: "production" },
        envPassthrough: ["PASSED"],
        inheritEnv: "safe",
        platform: process.platform,
      }),
    };
    process.env["CANARY_IN_PROCESS"] = "canary";
    // Node copies this one into every child of a process that has it.
    process.env["NODE_V8_COVERAGE"] = "canary";
    try {
      const observed = await serve([{ do: "environment" }], { env });
      const [dump] = await observed.received(1);
      expect(dump).toStrictEqual({
        env: {
          PATH: process.env["PATH"],
          PASSED: "p",
          NODE_ENV: "production",
          PLUGBOARD_CHILD: expect.stringMatching(/^\d+-\d*-[0-9a-f]{8}\.\d+$/),
        },
      });
    } finally {
      delete process.env["CANARY_IN_PROCESS"];
      delete process.env["NODE_V8_COVERAGE"];
    }
  });
});

describe("a server that falls behind", () => {
  it("STD-23 A19: once the queue is full senders wait, and all learn of the end", async () => {
    const overrides = { maxMessageBytes: 1_000_000 };
    const observed = await serve([say("{}\n")], { overrides, mode: "never-read" });
    await observed.received(1);
    const method = "x".repeat(100_000);
    let settled = 0;
    const sends = Array.from({ length: 200 }, async (_, id) => {
      try {
        await observed.transport.send({ jsonrpc: "2.0", id, method });
      } finally {
        settled += 1;
      }
    });
    const outcomes = Promise.allSettled(sends);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBeLessThan(20);
    process.kill(observed.pid, "SIGKILL");
    const failure = await observed.closed;
    const rejected = (await outcomes).filter(({ status }) => status === "rejected");
    expect(rejected.length).toBeGreaterThan(180);
    for (const outcome of rejected) expect(outcome).toHaveProperty("reason", failure);
    expect(failure).toMatchObject({ code: "connection_lost", details: { signal: "SIGKILL" } });
  });

  it("STD-23 A19: a sender waits for room no longer than a call may take", async () => {
    const overrides = { maxMessageBytes: 1_000_000, callTimeoutMs: 200 };
    const observed = await serve([say("{}\n")], { overrides, mode: "never-read" });
    await observed.received(1);
    const method = "x".repeat(100_000);
    const sends = Array.from({ length: 20 }, (_, id) =>
      observed.transport.send({ jsonrpc: "2.0", id, method }),
    );
    const outcomes = await Promise.allSettled(sends);
    expect(outcomes[0]).toHaveProperty("status", "fulfilled");
    expect(outcomes.at(-1)).toMatchObject({
      reason: { code: "timeout", details: { timeoutMs: 200 } },
    });
    expect(observed.transport.failure).toBeUndefined();
  });

  it("STD-23: a server that closes its input is lost and stopped", async () => {
    const mode = "never-read";
    const observed = await serve([{ do: "closeStdin" }, say("{}\n")], { mode });
    await observed.received(1);
    await observed.transport.send(message(1));
    await expect(observed.closed).resolves.toMatchObject({
      code: "connection_lost",
      message: "the server closed its input without stopping",
    });
    await observed.transport.close();
    expect(isAlive(observed.pid)).toBe(false);
  });
});
