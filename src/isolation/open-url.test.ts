import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type BrowserPlace, canOpenUrl, openUrl } from "./open-url.ts";

/** A folder with programs that write down the words they are started with. */
class Openers {
  readonly folder = mkdtempSync(path.join(tmpdir(), "open-url-"));
  readonly cwd = path.join(this.folder, "work");

  constructor() {
    mkdirSync(this.cwd);
  }

  program(name: string, { exitCode = 0 } = {}): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    const record = `require("fs").writeFileSync(${JSON.stringify(`${file}.argv`)}, JSON.stringify({
      argv: process.argv.slice(2),
      key: process.env.PLUGBOARD_SECRET_KEY,
      display: process.env.DISPLAY,
    })); process.exitCode = ${exitCode};`;
    writeFileSync(file, `#!${process.execPath}\n${record}\n`);
    chmodSync(file, 0o700);
    return file;
  }

  /** What a program was started with. */
  record(name: string): unknown {
    const file = path.join(this.folder, `${name}.argv`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown) : undefined;
  }

  place(env: BrowserPlace["env"] = {}, platform: NodeJS.Platform = "linux"): BrowserPlace {
    return { env: { PATH: this.folder, ...env }, platform, cwd: this.cwd };
  }
}

// Programs that a shell starts by their first line.
describe.skipIf(process.platform === "win32")("opening an address", () => {
  it("AUT-16: hands it over as one word, whatever a shell would make of it", async () => {
    const openers = new Openers();
    openers.program("xdg-open");
    const address = `https://auth.example.com/a?x=$(touch x)&y=\`id\`|cat;'q'"d"#$HOME`;
    const place = openers.place({ DISPLAY: ":0", PLUGBOARD_SECRET_KEY: "canary" });
    expect(await openUrl(address, place)).toEqual({ ok: true });
    expect(openers.record("xdg-open")).toEqual({
      argv: ["https://auth.example.com/a?x=$(touch%20x)&y=`id`|cat;%27q%27%22d%22#$HOME"],
      display: ":0",
    });
    expect(existsSync(path.join(openers.cwd, "x"))).toBe(false);
  });

  it.each([
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["--new-window"],
    ["vscode://open?x=1"],
    ["/usr/bin/id"],
    [""],
  ])("refuses %j", async (address) => {
    const openers = new Openers();
    const browser = openers.program("browser");
    expect(await openUrl(address, openers.place({ BROWSER: browser }))).toEqual({
      ok: false,
      reason: "it is not the address of a web page",
    });
    expect(openers.record("browser")).toBeUndefined();
  });

  it("takes $BROWSER where it is a program, and nothing else of it", async () => {
    const openers = new Openers();
    const browser = openers.program("browser");
    openers.program("xdg-open");
    const page = "https://example.com/";
    expect(await openUrl(page, openers.place({ BROWSER: browser }))).toEqual({ ok: true });
    expect(openers.record("browser")).toMatchObject({ argv: [page] });
    for (const words of [`${browser} --private`, `${browser}; id`, `%s`, `../browser`]) {
      const place = openers.place({ BROWSER: words, DISPLAY: ":0" });
      expect(await openUrl(page, place)).toEqual({ ok: true });
    }
    expect(openers.record("browser")).toMatchObject({ argv: [page] });
    expect(openers.record("xdg-open")).toMatchObject({ argv: [page] });
  });

  it("finds no browser in the folder that somebody works in, nor among the programs of packages", () => {
    const openers = new Openers();
    openers.program("work/xdg-open");
    openers.program("node_modules/.bin/xdg-open");
    const folders = ["", ".", openers.cwd, path.join(openers.folder, "node_modules/.bin")];
    const env = { DISPLAY: ":0", PATH: folders.join(path.delimiter) };
    expect(canOpenUrl(openers.place(env))).toBe(false);
  });

  it("opens nothing where nobody would see it", () => {
    const openers = new Openers();
    openers.program("xdg-open");
    const isPossible = (env: BrowserPlace["env"], platform: NodeJS.Platform = "linux"): boolean =>
      canOpenUrl(openers.place(env, platform));
    expect(isPossible({})).toBe(false);
    expect(isPossible({ DISPLAY: "" })).toBe(false);
    expect(isPossible({ DISPLAY: ":0" })).toBe(true);
    expect(isPossible({ WAYLAND_DISPLAY: "wayland-0" })).toBe(true);
    expect(isPossible({ DISPLAY: "localhost:10.0", SSH_CONNECTION: "10.0.0.1" })).toBe(false);
    expect(isPossible({}, "darwin")).toBe(true);
    expect(isPossible({ SSH_TTY: "/dev/pts/1" }, "darwin")).toBe(false);
    expect(isPossible({}, "win32")).toBe(true);
  });

  it("a browser that fails, or is not there, is told", async () => {
    const openers = new Openers();
    const broken = openers.program("broken", { exitCode: 3 });
    const page = "https://example.com/";
    expect(await openUrl(page, openers.place({ BROWSER: broken }))).toEqual({
      ok: false,
      reason: "broken ended with code 3",
    });
    expect(await openUrl(page, openers.place())).toEqual({
      ok: false,
      reason: "there is no browser here",
    });
    writeFileSync(path.join(openers.folder, "odd"), "#!/no/such/interpreter\n", { mode: 0o700 });
    const odd = path.join(openers.folder, "odd");
    expect(await openUrl(page, openers.place({ BROWSER: odd }))).toEqual({
      ok: false,
      reason: "odd could not be started (ENOENT)",
    });
  });
});
