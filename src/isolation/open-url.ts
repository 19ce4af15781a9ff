import { spawn } from "node:child_process";
import path from "node:path";

import { findCommand } from "./process/find-command.ts";
import { withSearchPath } from "./process/search-path.ts";

/** The machine on which an address is to be opened. */
export interface BrowserPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The folder somebody works in: no program of it is taken for a browser. */
  readonly cwd: string;
}

/** Whether a program took the address, or why none did. */
export type OpenedUrl = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A program that opens addresses, and the words before the address. */
interface Opener {
  readonly file: string;
  readonly args: readonly string[];
}

/** A program that still runs after this long shows the page; one that cannot, ends sooner. */
const patienceMs = 3_000;
/** What npm puts in front of the PATH: any package can have any program there. */
const packagePrograms = /(?:^|[\\/])node_modules[\\/]\.bin[\\/]?$/;

/** Whether a page that is opened here is seen by the person at the terminal. */
export function canOpenUrl(place: BrowserPlace): boolean {
  return findOpener(place) !== undefined;
}

/**
 * Opens a web page in the person's browser. No shell sees the address: it is one argument of a program, in the form
 * that a browser works with. The program lives on by itself, and gets no variable of ours, of which some are secret.
 */
export async function openUrl(address: string, place: BrowserPlace): Promise<OpenedUrl> {
  const href = webAddress(address);
  if (href === undefined) return { ok: false, reason: "it is not the address of a web page" };
  const opener = findOpener(place);
  if (opener === undefined) return { ok: false, reason: "there is no browser here" };
  return await start(opener, href, place);
}

/** The address as a browser would write it; undefined for what is not a page of the web. */
function webAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

function findOpener(place: BrowserPlace): Opener | undefined {
  const { env, platform } = place;
  const own = ownBrowser(place);
  if (own !== undefined) return { file: own, args: [] };
  // Whatever opened there would open on a screen that the person does not see.
  const isElsewhere = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].some((name) => isSet(env[name]));
  if (isElsewhere) return undefined;
  if (platform === "darwin") return { file: "/usr/bin/open", args: [] };
  if (platform === "win32") {
    const root = env["SystemRoot"] ?? env["SYSTEMROOT"] ?? String.raw`C:\Windows`;
    const file = path.win32.join(root, "System32", "rundll32.exe");
    return { file, args: ["url.dll,FileProtocolHandler"] };
  }
  if (!isSet(env["DISPLAY"]) && !isSet(env["WAYLAND_DISPLAY"])) return undefined;
  const file = findProgram("xdg-open", place);
  return file === undefined ? undefined : { file, args: [] };
}

/** The program of `$BROWSER`, where that is nothing but a program: only a shell could tell what else it means. */
function ownBrowser(place: BrowserPlace): string | undefined {
  const { env, platform } = place;
  const browser = env["BROWSER"];
  if (browser === undefined || browser === "") return undefined;
  const paths = platform === "win32" ? path.win32 : path.posix;
  const isName = paths.basename(browser) === browser;
  return isName || paths.isAbsolute(browser) ? findProgram(browser, place) : undefined;
}

function findProgram(name: string, { env, platform, cwd }: BrowserPlace): string | undefined {
  const set = withSearchPath(ownedEnvironment(env), { without: [cwd], cwd });
  const key = Object.keys(set).find((candidate) => candidate.toUpperCase() === "PATH") ?? "PATH";
  const folders = (set[key] ?? "")
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder) && !packagePrograms.test(folder));
  const searched = { ...set, [key]: folders.join(path.delimiter) };
  // An empty list means the folder the search begins in.
  return findCommand(name, { cwd: path.parse(cwd).root, env: searched, platform });
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

/** The environment without our own variables, which hold keys and passphrases. */
function ownedEnvironment(env: BrowserPlace["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith("PLUGBOARD_") ? [] : [[name, value] as const],
    ),
  );
}

function start({ file, args }: Opener, href: string, place: BrowserPlace): Promise<OpenedUrl> {
  const program = path.basename(file);
  return new Promise((resolve) => {
    const failed = (how: string): void => resolve({ ok: false, reason: `${program} ${how}` });
    const child = spawn(file, [...args, href], {
      detached: true,
      stdio: "ignore",
      env: ownedEnvironment(place.env),
      windowsHide: true,
    });
    const patience = setTimeout(() => resolve({ ok: true }), patienceMs).unref();
    child.once("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(patience);
      failed(`could not be started (${error.code ?? "unknown reason"})`);
    });
    child.once("exit", (exitCode, signal) => {
      clearTimeout(patience);
      if (exitCode === 0) resolve({ ok: true });
      else failed(signal === null ? `ended with code ${exitCode}` : `was ended by ${signal}`);
    });
    child.unref();
  });
}
