import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";

import { afterEach, describe, expect, it, vi } from "vitest";

import type { ConfirmQuestion, FormField, FormQuestion, Human } from "../../human/human.ts";
import { showText } from "../../human/shown-text.ts";
import { createTerminalHuman } from "./terminal-human.ts";

/** A terminal whose person types the next answer whenever a question waits for one. */
class FakeTerminal {
  readonly input = Object.assign(new PassThrough(), { isTTY: true });
  readonly output = Object.assign(new PassThrough(), { isTTY: true });
  readonly #answers: string[];
  screen = "";

  constructor(...answers: readonly string[]) {
    this.#answers = [...answers];
    this.output.setEncoding("utf8").on("data", (text: string) => {
      this.screen += text;
      if (!/(?:\]|:) $/.test(text)) return;
      const answer = this.#answers.shift();
      if (answer === undefined) return;
      this.screen += `${answer}\n`;
      this.input.write(`${answer}\n`);
    });
  }

  get human(): Required<Human> {
    return createTerminalHuman(this) as Required<Human>;
  }

  get lines(): readonly string[] {
    return this.screen.split("\n");
  }
}

const options = { signal: new AbortController().signal };

const call: ConfirmQuestion = {
  kind: "tool-call",
  agent: "main",
  serverName: "files",
  toolName: "write_file",
  argumentsText: showText('{"path":"notes.md"}'),
  answers: ["no", "once", "tool-session", "server-session", "tool-always", "server-always"],
};

afterEach(() => vi.unstubAllEnvs());

describe("the person at a terminal", () => {
  it("is shown who wants to call what with which arguments, and what may be answered", async () => {
    const terminal = new FakeTerminal("3");
    expect(await terminal.human.confirm(call, options)).toBe("server-session");
    expect(terminal.lines).toEqual([
      '"main" wants to call files.write_file:',
      '  {"path":"notes.md"}',
      "  1  once",
      "  2  write_file, for this session",
      "  3  all of files but what may destroy something, for this session",
      "  4  write_file, always",
      "  5  all of files but what may destroy something, always",
      "[1/2/3/4/5/N] 3",
      "",
    ]);
  });

  it.each(["", "n", "6", "0", "y", "1x", "once"])("has said no with %j", async (typed) => {
    expect(await new FakeTerminal(typed).human.confirm(call, options)).toBe("no");
  });

  it("has said no at the end of input, now and from then on", async () => {
    const terminal = new FakeTerminal();
    const answer = terminal.human.confirm(call, options);
    terminal.input.end();
    expect(await answer).toBe("no");
    expect(await terminal.human.confirm(call, options)).toBe("no");
  });

  it("may answer y where there is one yes, and sees what is said to be destructive", async () => {
    const terminal = new FakeTerminal("y");
    const answers = ["no", "once"] as const;
    const question = { ...call, isDestructive: true, answers };
    expect(await terminal.human.confirm(question, options)).toBe("once");
    expect(terminal.lines[0]).toBe(
      '"main" wants to call files.write_file, which may destroy something:',
    );
    expect(terminal.screen).toContain("\n  1  once\n[1/N] y\n");
  });

  it("is shown all of what is too long before a yes can be given", async () => {
    const long = showText(`{"text":"${"x".repeat(5_000)}end"}`);
    const refused = new FakeTerminal("1");
    const question = { ...call, argumentsText: long };
    expect(await refused.human.confirm(question, options)).toBe("no");
    expect(refused.screen).toContain("characters are not shown\nShow all of it? [a/N] 1\n");
    expect(refused.screen).not.toContain("end");
    const looking = new FakeTerminal("a", "1");
    expect(await looking.human.confirm(question, options)).toBe("once");
    expect(looking.screen).toContain('end"}\n  1  once');
  });

  it("cannot be shown a name that plays with the screen", async () => {
    const terminal = new FakeTerminal("n");
    await terminal.human.confirm({ ...call, toolName: "a\u001B[2Jb\nc" }, options);
    expect(terminal.lines[0]).toBe('"main" wants to call files.ab c:');
  });

  it("is asked one question at a time, and not about one that was withdrawn meanwhile", async () => {
    const terminal = new FakeTerminal();
    const { human } = terminal;
    const withdrawn = new AbortController();
    const first = human.confirm(call, options);
    const second = human.confirm({ ...call, toolName: "second" }, { signal: withdrawn.signal });
    const third = human.confirm({ ...call, toolName: "third" }, options);
    withdrawn.abort();
    terminal.input.write("1\n");
    expect(await first).toBe("once");
    expect(await second).toBe("no");
    terminal.input.write("2\n");
    expect(await third).toBe("tool-session");
    expect(terminal.screen).not.toContain("second");
  });

  it("is let go when an open question is withdrawn", async () => {
    const withdrawn = new AbortController();
    const terminal = new FakeTerminal();
    const answer = terminal.human.confirm(call, { signal: withdrawn.signal });
    withdrawn.abort();
    expect(await answer).toBe("no");
  });

  it("fills in a form field by field, and agrees to what is sent", async () => {
    const fields: readonly FormField[] = [
      { type: "text", name: "name", title: "Name", isRequired: true },
      { type: "integer", name: "age", title: "Age", isRequired: true, default: 7 },
      { type: "boolean", name: "news", title: "News", isRequired: false },
      {
        type: "choice",
        name: "size",
        title: "Size",
        description: "Of the shirt",
        isRequired: true,
        options: [
          { value: "s", title: "Small" },
          { value: "l", title: "Large" },
        ],
      },
      {
        type: "choices",
        name: "days",
        title: "Days",
        isRequired: false,
        options: [
          { value: "mo", title: "Monday" },
          { value: "tu", title: "Tuesday" },
        ],
      },
    ];
    const form: FormQuestion = {
      kind: "form",
      serverName: "shop",
      message: "Who are you?",
      fields,
    };
    const terminal = new FakeTerminal("Ada", "", "", "3", "2", "1,2", "y");
    expect(await terminal.human.elicit(form, options)).toEqual({
      action: "accept",
      content: { name: "Ada", size: "l", days: ["mo", "tu"] },
    });
    expect(terminal.lines).toEqual([
      "shop asks: Who are you?",
      "  Name: Ada",
      "  Age (Enter: 7): ",
      "  News (y or n; may be left out): ",
      "  Of the shirt",
      "  1  Small",
      "  2  Large",
      "  Size: 3",
      // A locale without such a sign has another one.
      expect.stringMatching(/^ {2}[⚠!] a number from 1 to 2$/),
      "  Size: 2",
      "  1  Monday",
      "  2  Tuesday",
      "  Days (numbers, with commas between them; may be left out): 1,2",
      "Send this to shop? [y/N] y",
      "",
    ]);
  });

  it("declines a form by leaving out what is required, or by not sending it", async () => {
    const name: FormField = { type: "text", name: "name", title: "Name", isRequired: true };
    const form: FormQuestion = { kind: "form", serverName: "s", message: "?", fields: [name] };
    const declined = { action: "decline" };
    expect(await new FakeTerminal("").human.elicit(form, options)).toEqual(declined);
    expect(await new FakeTerminal("Ada", "").human.elicit(form, options)).toEqual(declined);
  });

  it("sees an address in full before it is opened, and where to open it", async () => {
    // As on a machine whose screen the person does not see.
    vi.stubEnv("BROWSER", "");
    vi.stubEnv("SSH_TTY", "/dev/pts/0");
    const terminal = new FakeTerminal("y");
    const url = "https://pay.example/order?id=7";
    const question = { kind: "url", serverName: "shop", message: "Pay.", url } as const;
    expect(await terminal.human.elicit({ ...question, host: "pay.example" }, options)).toEqual({
      action: "accept",
    });
    await terminal.human.openUrl(url, options);
    expect(terminal.lines).toEqual([
      "shop asks: Pay.",
      `  ${url}`,
      "Open this page of pay.example? [y/N] y",
      "Open this address in a browser:",
      `  ${url}`,
      "",
    ]);
  });

  it.skipIf(process.platform === "win32")(
    "gets the page in the browser, where there is one, and the address all the same",
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), "browser-"));
      const browser = path.join(folder, "browser");
      writeFileSync(browser, `#!/bin/sh\nprintf '%s' "$1" > '${folder}/opened'\n`, { mode: 0o700 });
      vi.stubEnv("BROWSER", browser);
      const terminal = new FakeTerminal();
      const url = "https://pay.example/order?id=7&x=$(id)";
      await terminal.human.openUrl(url, options);
      expect(terminal.lines).toEqual(["Opening this address in your browser:", `  ${url}`, ""]);
      expect(readFileSync(path.join(folder, "opened"), "utf8")).toBe(url);

      vi.stubEnv("BROWSER", "/bin/false");
      await terminal.human.openUrl(url, options);
      expect(terminal.lines).toContain("⚠ it could not be opened: false ended with code 1");
    },
  );

  it("is asked through the readline interface of the program, until that is closed", async () => {
    const terminal = new FakeTerminal("2");
    const readline = createInterface({ input: terminal.input, output: terminal.output });
    const human = createTerminalHuman({ readline, output: terminal.output }) as Required<Human>;
    expect(await human.confirm(call, options)).toBe("tool-session");
    const open = human.confirm(call, options);
    readline.close();
    expect(await open).toBe("no");
    expect(await human.confirm(call, options)).toBe("no");
  });

  it("is not there in a pipe: nobody can be asked", () => {
    const { input, output } = new FakeTerminal();
    input.isTTY = false;
    expect(Object.keys(createTerminalHuman({ input, output }))).toEqual(["notify"]);
  });
});
