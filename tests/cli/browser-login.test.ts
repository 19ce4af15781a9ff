import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type BrowserContext, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { chromiumBrowser, installCommand } from "../../scripts/debian-packages.mjs";
import { ProtectedPlace } from "./protected-place.ts";
import { ReplAtTerminal } from "./repl-terminal.ts";
import { hasTerminal } from "./run-cli.ts";

const executablePath = chromiumBrowser.find();
const isPossible = executablePath !== undefined && hasTerminal;

/** What keeps the browser to the pages of the test. */
const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** Signs in on the page, by the buttons that a person sees; gives what the last page says. */
async function signInAt(browser: BrowserContext, url: string): Promise<string> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(/\/callback/);
  const text = await page.locator("body").innerText();
  await page.close();
  return text;
}

describe.skipIf(!isPossible)(
  `in Chromium${isPossible ? "" : ` (not here: ${installCommand(chromiumBrowser)})`}`,
  () => {
    const profile = mkdtempSync(path.join(tmpdir(), "chromium-"));
    let browser: BrowserContext;
    beforeAll(async () => {
      browser = await chromium.launchPersistentContext(profile, {
        executablePath: executablePath ?? "",
        args,
      });
    });
    afterAll(async () => {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    });

    it("AUT-03 AUT-04 AUT-05: a person signs in from the command line, and the command goes on", async () => {
      const place = await ProtectedPlace.open({ consent: "page" });
      const { sandbox } = place;
      const { program, file } = place.recordingBrowser();
      const terminal = new ReplAtTerminal(sandbox, {
        words: ["login", "app"],
        env: { BROWSER: program },
        columns: 1_000,
      });
      await sandbox.holds("opened", "authorize");
      const [, url = ""] = readFileSync(file, "utf8").split("\n");
      const text = await signInAt(browser, url);
      expect(text).toContain("Signed in");
      expect(text).toContain("app: you are signed in.");
      expect(await terminal.end()).toBe(0);
      expect(terminal.terminal.screen).toMatch(/✓ signed in to app .* · 3 tools/);
      expect(await sandbox.run(["call", "app.echo", "message=hello"])).toMatchObject({
        stdout: "hello\n",
      });
    });

    it("AUT-16: on a machine without a browser, the address at which it ended is pasted", async () => {
      const auth = { type: "oauth", redirectUri: "https://apps.example.com/callback" };
      const place = await ProtectedPlace.open({ consent: "page" }, {}, { auth });
      const cli = place.sandbox.startLine("plugboard login app --no-browser");
      await cli.writes("stderr", "Paste here the address");
      const [, url = ""] = /^ {2}(http\S+\/authorize\?\S+)/m.exec(cli.stderr) ?? [];
      const page = await browser.newPage();
      // Nobody is there: the browser stops at the address that it was sent to.
      const ended = page.waitForRequest(/^https:\/\/apps\.example\.com\//);
      await page.goto(url);
      await page.getByRole("button", { name: "Allow" }).click();
      const address = (await ended).url();
      await page.close();
      cli.type(`${address}\n`);
      expect(await cli.ended).toMatchObject({
        stdout: expect.stringMatching(/^✓ signed in to app /) as unknown,
        exitCode: 0,
      });
    });
  },
);
