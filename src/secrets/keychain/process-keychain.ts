import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { Stop } from "../../async/stop.ts";
import type { Clock } from "../../ports/clock.ts";
import { findOptionalPackage } from "../../ports/optional-package.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import { keychainProgramModule } from "./keychain-program-module.ts";
import type { KeychainReport, KeychainStep, KeychainTask } from "./keychain-program.mjs";
import type { Keychain, KeychainAnswer } from "./keychain.ts";

const keychainPackage = "@napi-rs/keyring";
/** What entries of ours are filed under; people see it in the list of their keychain. */
const service = "plugboard";
/** A keychain that is slower to show that it works is not used for a new key; a start waits 2 s for it, all in all. */
const probeTimeoutMs = 1_500;
/** The system may ask the person for a password before it gives the key away. */
const personTimeoutMs = 30_000;
const maxReasonChars = 200;
const maxReportChars = 10_000;

/** The variables by which a keychain and the person's screen are found; nothing else of the environment is handed on. */
const passedVariables = [
  "APPDATA",
  "DBUS_SESSION_BUS_ADDRESS",
  "DISPLAY",
  "HOME",
  "LANG",
  "LOCALAPPDATA",
  "LOGNAME",
  "PATH",
  "SYSTEMROOT",
  "TEMP",
  "TMPDIR",
  "USER",
  "USERPROFILE",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
];

export interface ProcessKeychainOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

type Found = readonly (string | null)[];

/**
 * The keychain of the operating system, by a package that not everybody installs. Each question is a short-lived process,
 * because a call of that package may block for ever, and a blocked thread would keep the whole program from ending.
 */
export class ProcessKeychain implements Keychain {
  readonly #options: ProcessKeychainOptions;

  constructor(options: ProcessKeychainOptions) {
    this.#options = options;
  }

  async keep(account: string, secret: string): Promise<KeychainAnswer<void>> {
    const probe = { account: `probe-${account}`, secret: randomBytes(12).toString("hex") };
    const answer = await this.#ask(
      [
        { action: "set", ...probe },
        { action: "get", account: probe.account },
        { action: "remove", account: probe.account },
        { action: "get", account: probe.account },
        { action: "set", account, secret },
        { action: "get", account },
      ],
      probeTimeoutMs,
    );
    if (!answer.isAnswered) return answer;
    const [, kept, , removed, , found] = answer.value;
    return kept === probe.secret && removed === null && found === secret
      ? { isAnswered: true, value: undefined }
      : refusal("it does not give back what it was given");
  }

  async find(account: string): Promise<KeychainAnswer<string | undefined>> {
    const answer = await this.#ask([{ action: "get", account }], personTimeoutMs);
    if (!answer.isAnswered) return answer;
    return { isAnswered: true, value: answer.value[0] ?? undefined };
  }

  async remove(account: string): Promise<KeychainAnswer<void>> {
    const answer = await this.#ask([{ action: "remove", account }], probeTimeoutMs);
    return answer.isAnswered ? { isAnswered: true, value: undefined } : answer;
  }

  async #ask(steps: readonly KeychainStep[], timeoutMs: number): Promise<KeychainAnswer<Found>> {
    const library = findOptionalPackage(keychainPackage);
    if (library === undefined)
      return refusal(`the package ${keychainPackage} is not installed beside plugboard`);
    if (!isNode()) return refusal("this program runs without a Node.js of its own to ask it with");
    const task: KeychainTask = { library, service, parent: process.pid, steps };
    const stop = new Stop({ clock: this.#options.clock, afterMs: timeoutMs });
    const child = this.#start();
    try {
      const text = await reportOf(child, JSON.stringify(task), stop.signal);
      if (stop.isOutOfTime) return refusal(`it did not answer within ${timeoutMs / 1_000} s`);
      return readReport(text, steps.length);
    } finally {
      stop.clear();
      child.kill("SIGKILL");
    }
  }

  #start(): ChildProcess {
    const program =
      "code" in keychainProgramModule
        ? ["--input-type=commonjs", "--eval", keychainProgramModule.code]
        : [fileURLToPath(keychainProgramModule.file)];
    const passed = passedVariables.flatMap((name) => {
      const value = this.#options.env[name];
      return value === undefined ? [] : [[name, value]];
    });
    return spawn(process.execPath, program, {
      // Not in the working folder, which may be anybody's.
      cwd: path.parse(process.execPath).root,
      env: { ...Object.fromEntries(passed), ELECTRON_RUN_AS_NODE: "1" },
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
  }
}

/** Whether the program behind this process runs scripts: one that is packed together with its own would start itself anew. */
function isNode(): boolean {
  const name = path.basename(process.execPath).replace(/\.exe$/i, "");
  return /^node(?:js)?(?:-?\d+)?$/i.test(name) || process.versions["electron"] !== undefined;
}

/** What the program writes until it ends or `signal` aborts. */
function reportOf(child: ChildProcess, task: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (): void => resolve(text);
    child.on("error", finish).on("close", finish);
    signal.addEventListener("abort", finish);
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      if (text.length <= maxReportChars) text += part;
    });
    // It may be gone before it has read the task, which is told by what it did not write.
    child.stdin?.on("error", () => undefined).end(task);
  });
}

function readReport(text: string, steps: number): KeychainAnswer<Found> {
  let report: KeychainReport;
  try {
    report = JSON.parse(text) as KeychainReport;
  } catch {
    return refusal("the process that asks it ended without an answer");
  }
  if ("failure" in report) return refusal(serverText(report.failure, maxReasonChars));
  return report.found.length === steps
    ? { isAnswered: true, value: report.found }
    : refusal("the process that asks it gave half an answer");
}

function refusal(reason: string): { readonly isAnswered: false; readonly reason: string } {
  return { isAnswered: false, reason };
}
