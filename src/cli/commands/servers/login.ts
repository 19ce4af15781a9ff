import type { SignInStatus } from "../../../auth/server-sign-in.ts";
import { createError } from "../../../errors/families.ts";
import { McpError } from "../../../errors/mcp-error.ts";
import type { McpHost, ServerStatus } from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { parseDuration } from "../../output/duration.ts";
import { toolsText } from "../../output/server-status.ts";
import { missingWords, signInObject, signInWords } from "../../output/sign-in-words.ts";
import { offerApproval } from "../../steps/approve-launch.ts";
import { connectServer, requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost, withTrialHost } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import { readSecret } from "../../steps/read-secrets.ts";
import { signIn, type SignInWishes } from "../../steps/sign-in.ts";
import { addExamples } from "../../words/examples.ts";
import { collect } from "../../words/option-values.ts";
import { readServer } from "../../words/server-words.ts";

interface LoginOptions {
  readonly browser: boolean;
  /** `-` and nothing else. */
  readonly token?: string;
  readonly scope?: readonly string[];
  readonly force?: boolean;
  readonly rotate?: boolean;
  /** Milliseconds; 0 without end. */
  readonly timeout?: number;
}

/** `plugboard login`: a person signs in to a server, once for every program on this machine. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "in your browser", line: "plugboard login https://example.com/mcp" },
    {
      says: "where there is none: open the address elsewhere, and paste the one at which it ends",
      line: "plugboard login https://example.com/mcp --no-browser",
    },
    {
      says: "with a token that you have",
      line: 'echo "$DOCS_TOKEN" | plugboard login https://example.com/mcp --token -',
    },
  ]);
  command
    .description(
      "Signs in to a server that is reached over HTTP. Whose page it is, and what it is asked for, is\n" +
        "shown before your browser opens it. The sign-in is kept sealed, for every program that uses the\n" +
        "same server, until plugboard logout. Nothing happens when the server lets you in already.",
    )
    .argument("<server>", "its name in plugboard list, or its address")
    .option("--no-browser", "print the address; paste the one at which the browser ends")
    .option("--token <->", "- takes a token that you type, or pipe in, and opens no page")
    .option("--scope <scope>", "ask for this as well (repeatable)", collect)
    .option("--force", "sign in again, although you are signed in")
    .option("--rotate", "get a new token in place of the present one; asks nobody")
    .option("--timeout <time>", "how long to wait for you: 90s, 10m; 5m by default", parseDuration)
    .action((name: string, options: LoginOptions) =>
      execute((context) => runLogin(context, name, options)),
    );
};

async function runLogin(
  context: CommandContext,
  word: string,
  options: LoginOptions,
): Promise<number> {
  const server = readServer([word], {}, []);
  const wishes = await readWishes(context, options);
  // Whoever types this has been asked enough.
  context.wasSignInOffered = true;
  const run = (host: McpHost): Promise<number> => login(context, host, server.name, wishes);
  if (server.entry === undefined) return await withConfiguredHost(context, run);
  return await withTrialHost(context, server, run);
}

async function readWishes(context: CommandContext, options: LoginOptions): Promise<SignInWishes> {
  const { browser: opensBrowser, token, scope: scopes, force, rotate, timeout } = options;
  if (token !== undefined && token !== "-")
    throw createError("invalid_arguments", "--token takes no token", {
      hint: "what is typed as a word stands in the history of your shell: give --token -, and type it when you are asked, or pipe it in",
    });
  if (token !== undefined && (rotate === true || scopes !== undefined))
    throw createError("invalid_arguments", "--token goes with neither --rotate nor --scope");
  return {
    opensBrowser,
    scopes,
    force,
    rotate,
    ...(token === undefined ? {} : { token: await readSecret(context, "the token") }),
    ...(timeout === undefined
      ? {}
      : { timeoutMs: timeout === 0 ? Number.POSITIVE_INFINITY : timeout }),
  };
}

async function login(
  context: CommandContext,
  host: McpHost,
  name: string,
  wishes: SignInWishes,
): Promise<number> {
  const server = requireServer(context, host, name);
  if (server.transport === "stdio")
    return tellNoNeed(context, name, "it runs on this machine, and wants no sign-in");
  await offerApproval(context, host, server);
  const { status, wasSignedIn } = await signIn(context, host, name, wishes);
  if (status === undefined)
    return tellNoNeed(context, name, "it lets everybody in, and wants no sign-in");
  return await tellSignIn(context, host, { name, status, wasSignedIn });
}

function tellNoNeed(context: CommandContext, name: string, why: string): number {
  context.answer(
    { signedIn: false, needed: false, name },
    `✓ nothing to do for ${neutralizeLine(name)}: ${why}.`,
  );
  return 0;
}

interface ToldSignIn {
  readonly name: string;
  readonly status: SignInStatus;
  readonly wasSignedIn: boolean;
}

/** Tries what the sign-in is good for, and says both. */
async function tellSignIn(
  context: CommandContext,
  host: McpHost,
  { name, status, wasSignedIn }: ToldSignIn,
): Promise<number> {
  const { state } = host.server(name);
  const { connected, failure } = await tryConnecting(context, host, name);
  // Where hosts stay open it was a try, and no wish to have it connected.
  if (context.workplace !== undefined && state !== "connected") await host.disconnect(name);
  const already = wasSignedIn ? "already " : "";
  const tools = connected === undefined ? "" : ` · ${toolsText(connected)}`;
  context.answer(
    {
      signedIn: true,
      needed: true,
      name,
      isNew: !wasSignedIn,
      ...signInObject(status),
      ...(connected === undefined ? {} : { tools: connected.toolCount ?? 0 }),
    },
    `✓ ${already}signed in to ${neutralizeLine(name)} ${signInWords(status)}${tools}`,
  );
  const missing = missingWords(status);
  if (missing !== undefined) context.notice(`⚠ ${missing}`);
  return failure === undefined ? 0 : context.report(failure);
}

interface Attempt {
  readonly connected?: ServerStatus;
  readonly failure?: McpError;
}

async function tryConnecting(
  context: CommandContext,
  host: McpHost,
  name: string,
): Promise<Attempt> {
  try {
    const progress = new ProgressLine(context);
    return { connected: (await connectServer(context, host, { name, progress })).status };
  } catch (error) {
    if (McpError.is(error)) return { failure: error };
    throw error;
  }
}
