import { writeFileSync } from "node:fs";
import path from "node:path";

import { onTestFinished } from "vitest";

import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createTestServer,
  type ProtectedServer,
  serveProtected,
  type ServeProtectedOptions,
  startAuthorizationServer,
} from "../../src/testing/index.ts";
import { TestBrowser } from "../fixtures/oauth/browser.ts";
import { CliSandbox, type RunningCli } from "./run-cli.ts";

/** Where somebody types commands about `app`, a server that wants a sign-in. */
export class ProtectedPlace {
  readonly sandbox = new CliSandbox();
  readonly browser = new TestBrowser();
  readonly auth: AuthorizationServer;
  readonly server: ProtectedServer;

  private constructor(auth: AuthorizationServer, server: ProtectedServer) {
    this.auth = auth;
    this.server = server;
  }

  static async open(
    authorization: AuthorizationServerOptions = {},
    options: Omit<ServeProtectedOptions, "authorization"> = {},
    entry: object = {},
  ): Promise<ProtectedPlace> {
    const auth = await startAuthorizationServer(authorization);
    const server = await serveProtected(createTestServer(), { authorization: auth, ...options });
    onTestFinished(async () => {
      await server.close();
      await auth.close();
    });
    const place = new ProtectedPlace(auth, server);
    place.sandbox.configureUser({ app: { url: server.url, ...entry } });
    return place;
  }

  /** Goes through the page whose address a command has printed; gives the address at which the browser ends. */
  async walk(cli: RunningCli, stream: "stdout" | "stderr" = "stderr"): Promise<string> {
    await cli.writes(stream, /^ {2}http\S+\/authorize\?\S+\r?\n/m);
    const written = stream === "stdout" ? cli.stdout : cli.stderr;
    const [, url = ""] = /^ {2}(http\S+\/authorize\?\S+)/m.exec(written) ?? [];
    return await this.browser.walk(url);
  }

  /** The same, and the browser goes there. */
  async finish(cli: RunningCli, stream: "stdout" | "stderr" = "stderr"): Promise<string> {
    const response = await fetch(await this.walk(cli, stream));
    return await response.text();
  }

  /** Signs in as a person would, without a terminal. */
  async login(...words: readonly string[]): Promise<void> {
    const cli = this.sandbox.start(["login", "app", ...words]);
    await this.finish(cli);
    const { exitCode, stderr } = await cli.ended;
    if (exitCode !== 0) throw new Error(`login ended with ${exitCode}: ${stderr}`);
  }

  /** The token that the server was shown last. */
  get token(): string {
    const shown = this.server.requests
      .flatMap(({ headers }) => headers["authorization"] ?? [])
      .at(-1);
    return shown?.replace(/^\S+ /, "") ?? "";
  }

  /** A program for `BROWSER` that writes down what it is asked to open. */
  recordingBrowser(): { readonly program: string; readonly file: string } {
    const program = path.join(this.sandbox.root, "browser");
    const file = path.join(this.sandbox.cwd, "opened");
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${file}'\n`, { mode: 0o700 });
    return { program, file };
  }
}
