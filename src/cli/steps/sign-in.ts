import { joinSignals } from "../../async/stop.ts";
import type { SignInPage } from "../../auth/browser/browser-sign-in.ts";
import type { SignInStatus } from "../../auth/server-sign-in.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { LoginOptions, McpHost } from "../../host/host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import { canOpenUrl, openUrl } from "../../isolation/open-url.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { browserPlace } from "../human/browser-place.ts";
import { readAnswer } from "../human/dialogue.ts";
import { textsIn } from "../output/error-texts.ts";
import { missingWords, signInWords } from "../output/sign-in-words.ts";
import { canAsk } from "./approve-launch.ts";
import { answersYes } from "./ask-line.ts";
import { withConfiguredHost } from "./open-host.ts";
import { ProgressLine } from "./progress-line.ts";

/** How the person who types wants to sign in. */
export interface SignInWishes extends Pick<
  LoginOptions,
  "token" | "scopes" | "force" | "rotate" | "timeoutMs"
> {
  /** `false`: the address is only printed, whatever could open it here. */
  readonly opensBrowser?: boolean | undefined;
}

/** What came of it. */
export interface SignInResult {
  /** Undefined when the server lets everybody in. */
  readonly status: SignInStatus | undefined;
  /** Whether nothing had to be done. */
  readonly wasSignedIn: boolean;
}

/**
 * Signs in to a server because somebody typed that: whose page it is, and what it is asked for, is on the screen before
 * anything is opened. It ends with the browser that comes back or with the address that is pasted, whichever is first.
 */
export async function signIn(
  context: CommandContext,
  host: McpHost,
  name: string,
  { opensBrowser = true, ...wishes }: SignInWishes = {},
): Promise<SignInResult> {
  const before = await host.signIn(name);
  // Nobody pastes an address any more once the browser is back.
  const over = new AbortController();
  const progress = new ProgressLine(context);
  let isNew = wishes.rotate === true || wishes.token !== undefined;
  progress.phase(`asking ${neutralizeLine(name)} whether it wants a sign-in`);
  try {
    const status = await host.login(name, {
      ...wishes,
      signal: context.signal,
      present: async (page, { signal }) => {
        isNew = true;
        progress.stop();
        const until = joinSignals(signal, over.signal);
        return await showSignInPage(context, page, { signal: until, opensBrowser });
      },
    });
    return { status, wasSignedIn: before !== undefined && !isNew };
  } catch (error) {
    if (!context.signal.aborted || !McpError.is(error, "cancelled")) throw error;
    throw createError("cancelled", "the sign-in was cancelled", { serverName: name, cause: error });
  } finally {
    over.abort();
    progress.stop();
  }
}

interface ShownPage {
  readonly signal: AbortSignal;
  readonly opensBrowser: boolean;
}

/** Shows the page to whoever sits here, and gives the address that they paste; undefined when they paste none. */
async function showSignInPage(
  context: CommandContext,
  page: SignInPage,
  { signal, opensBrowser }: ShownPage,
): Promise<string | undefined> {
  const { terminal, options, workplace } = context;
  const isAttended = canAsk(context);
  const place = browserPlace();
  const opens = opensBrowser && isAttended && canOpenUrl(place);
  // All of it is needed to go on, so that not even --quiet leaves it out.
  if (options.json === true) terminal.jsonError({ log: pageLog(page) });
  else for (const line of pageLines(page, opens)) terminal.note(line);
  if (opens)
    void openUrl(page.url, place).then((opened) => {
      if (!opened.ok && !signal.aborted)
        terminal.note(`⚠ the page could not be opened: ${opened.reason}`);
    });
  if (isAttended) return await askForAddress(context, page, signal);
  // Where lines of a pipe are commands, the next one is no address.
  return workplace === undefined ? await readPipedLine(signal) : undefined;
}

/** What a person must see before the page is opened; every text of it is safe to show. */
function pageLines(page: SignInPage, opens: boolean): readonly string[] {
  const { serverName, url, scopes, redirectUri, isAwaited } = page;
  const asked = scopes.length === 0 ? "what the page says" : scopes.join(" ");
  return [
    `Sign in to ${neutralizeLine(serverName)} at ${new URL(url).origin}`,
    `  asks for    ${asked}`,
    `  returns to  ${redirectUri}`,
    opens ? "Opening this address in your browser:" : "Open this address in a browser:",
    `  ${url}`,
    isAwaited
      ? "Waiting for your browser … paste the address here if it does not come back"
      : "Paste here the address at which your browser ends",
  ];
}

/** The same for a program, which shows it to a person itself. */
function pageLog(page: SignInPage): Readonly<Record<string, unknown>> {
  const { serverName, url, host, scopes, redirectUri, isAwaited } = page;
  const message = "waiting for a browser that opens the address";
  return { level: "info", message, serverName, url, host, scopes, redirectUri, isAwaited };
}

/** The address at which the browser ended; undefined at the end of input. */
async function askForAddress(
  { dialogue, workplace }: CommandContext,
  { serverName, redirectUri }: SignInPage,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const line = await dialogue.ask("address: ", signal);
    // Ctrl-C at a question of the REPL takes the question back, and with it the sign-in.
    if (line === undefined && workplace !== undefined && !signal.aborted)
      throw createError("cancelled", "the sign-in was cancelled", { serverName });
    if (line === undefined || line.startsWith(redirectUri)) return line;
    if (line !== "") dialogue.note(`⚠ that is not it: the address begins with ${redirectUri}`);
  }
}

async function readPipedLine(signal: AbortSignal): Promise<string | undefined> {
  const line = await readAnswer(process.stdin, () => {}, { prompt: "", signal });
  return line === "" ? undefined : line;
}

/**
 * Offers to sign in to a server that just refused to be connected without, once in a command and where somebody can be
 * asked; whether they did. Any other failure is nobody's to mend here.
 */
export async function offerSignIn(
  context: CommandContext,
  host: SharedHost,
  name: string,
  error: unknown,
): Promise<boolean> {
  if (!isMendedBySignIn(error) || context.wasSignInOffered || !canAsk(context)) return false;
  context.wasSignInOffered = true;
  const { dialogue } = context;
  dialogue.note(`◐ ${neutralizeLine(name)}: ${neutralizeLine(error.message)}. Sign in now?`);
  if (!(await answersYes(context))) return false;
  const run = async (whole: McpHost): Promise<void> => {
    const { status } = await signIn(context, whole, name, { scopes: textsIn(error, "scopes") });
    if (status !== undefined) tellSignIn(context, name, status);
  };
  // A host of another process takes up what is kept here.
  await (isWhole(host) ? run(host) : withConfiguredHost(context, run));
  return true;
}

/** A server that answers 401 and says of no authorization server wants a token that only its people can give. */
function isMendedBySignIn(error: unknown): error is McpError {
  if (McpError.is(error, "auth_scope_missing")) return true;
  if (!McpError.is(error, "auth_required")) return false;
  const { status, authorizationServer } = error.details;
  return status === undefined || authorizationServer !== undefined;
}

function isWhole(host: SharedHost | McpHost): host is McpHost {
  return "login" in host;
}

/** Says who is signed in now, beside what the command itself answers. */
function tellSignIn(context: CommandContext, name: string, status: SignInStatus): void {
  context.notice(`✓ signed in to ${neutralizeLine(name)} ${signInWords(status)}`);
  const missing = missingWords(status);
  if (missing !== undefined) context.notice(`⚠ ${missing}`);
}
