// @ts-check
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { cpus } from "node:os";

import { note } from "./note.mjs";

/** Never. */
const silent = () => {};

/** @param {number} ms */
function holdPipes(ms) {
  const program = `setTimeout(() => {}, ${ms})`;
  spawn(process.execPath, ["-e", program], { stdio: "inherit", detached: true });
}

/** Starts and ends that nobody expects. @type {Record<string, import("./modes.mjs").Mode>} */
export const lifeModes = {
  "slow-start": ({ ms = 3_000 }) => ({ startAfterMs: ms }),

  /** Reads everything and answers no handshake of any era. */
  "never-init": () => ({ methods: { initialize: silent, "server/discover": silent } }),

  /** Ends as if all were well, on a call or, with `at=start`, before anything. */
  "exit-zero": ({ at = "call" }) => {
    if (at === "start") process.exit(0);
    return { onCall: () => process.exit(0) };
  },

  /** Ends as programs in C do. */
  "kill-self": ({ signal = "SIGSEGV", at = "call" }) => {
    const kill = () => void process.kill(process.pid, signal);
    if (at === "start") kill();
    return { onCall: kill };
  },

  /** Ends, while a child of its holds on to its pipes for `ms`. */
  "crash-hold-stdout": ({ ms = 10_000 }) => ({
    onCall() {
      holdPipes(ms);
      process.exit(1);
    },
  }),

  /** Lives on without a voice. */
  "close-stdout": () => ({ onCall: () => closeSync(1) }),

  /** Answers no call and, if `stubborn`, takes no notice of being told to end. */
  hang: ({ stubborn = 0 }) => {
    if (stubborn === 1) {
      process.on("SIGTERM", silent);
      process.exit = /** @type {any} */ (silent);
      setTimeout(() => void process.kill(process.pid, "SIGKILL"), 30_000);
    }
    return { onCall: silent };
  },

  /**
   * Takes no notice of being told to end, nor do the four it starts: in its group, in a session of its own, without an
   * environment, and without a parent. All write their ids into the `diary`, and end after five minutes.
   */
  family: ({ diary }) => {
    note(diary, String(process.pid));
    process.on("SIGTERM", silent);
    process.exit = /** @type {any} */ (silent);
    setTimeout(() => void process.kill(process.pid, "SIGKILL"), 300_000);
    const stay = `echo "0 $$" >> '${diary}'; trap '' TERM HUP INT; exec sleep 300`;
    const [inGroup, inSession] = [{ detached: false }, { detached: true }];
    const bare = { detached: true, env: {} };
    for (const options of [inGroup, inSession, bare])
      spawn("/bin/sh", ["-c", stay], { stdio: "ignore", ...options });
    spawn("/bin/sh", ["-c", '(setsid sh -c "$0" &)', stay], { stdio: "ignore", ...bare });
    return {};
  },

  /** Starts `n` processes in sessions of their own, without an environment. They end after five minutes. */
  "fork-bomb": ({ n, diary }) => ({
    onCall(call, peer) {
      for (let started = 0; started < n; started += 1) {
        const options = /** @type {const} */ ({ stdio: "ignore", detached: true, env: {} });
        const child = spawn("/bin/sleep", ["300"], options);
        note(diary, String(child.pid));
      }
      peer.answer(call);
    },
  }),

  /** Keeps all processors busy for `s` seconds, or until it is ended, with processes that hear no signal. */
  "cpu-hog": ({ s, diary }) => ({
    onCall(call, peer) {
      const hog = `echo "0 $$" >> '${diary}'; trap '' TERM HUP INT; exec timeout -s KILL ${s} sh -c 'while :; do :; done'`;
      for (const _ of cpus()) spawn("/bin/sh", ["-c", hog], { stdio: "ignore", detached: true });
      peer.answer(call);
    },
  }),

  /** Takes `mb` MB of memory, and keeps them. */
  "mem-hog": ({ mb, diary }) => {
    note(diary, String(process.pid));
    return {
      onCall(call, peer) {
        const held = Array.from({ length: mb / 64 }, () => Buffer.alloc(64 * 2 ** 20, 1));
        setInterval(() => held.length, 60_000);
        peer.answer(call);
      },
    };
  },
};
