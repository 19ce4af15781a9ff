// @ts-check
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";

import { handshake } from "./line-server.mjs";
import { countNotes, note } from "./note.mjs";

const lastWords = "fatal: out of luck";

/** @returns {never} */
function crash() {
  writeSync(2, `${lastWords}\n`);
  process.exit(1);
}

/**
 * Starts a process in a session of its own and without an environment, if it has a name. It ends after ten minutes.
 *
 * @param {string | undefined} name what its command line begins with
 */
function leaveChild(name) {
  if (name === undefined) return;
  spawn("/bin/sleep", ["600"], { argv0: name, stdio: "ignore", detached: true, env: {} });
}

/** Servers that end and are wanted again. A `diary` hears of each start. @type {Record<string, import("./modes.mjs").Mode>} */
export const restartModes = {
  "crash-on-call": ({ child }) => ({
    onCall() {
      leaveChild(child);
      crash();
    },
  }),

  /** Does what it is asked without a word until it is killed, at the call with the number `at`. */
  "killed-mid-call": ({ diary, child, at = 25 }) => {
    let calls = 0;
    return {
      onCall({ args }) {
        note(diary, String(args["nonce"]));
        calls += 1;
        if (calls !== at) return;
        leaveChild(child);
        process.kill(process.pid, "SIGKILL");
      },
    };
  },

  "crash-loop": ({ diary }) => {
    note(diary, "start");
    return crash();
  },

  /** Ends `ms` after each handshake. */
  flap: ({ diary, ms = 1_000 }) => {
    note(diary, "start");
    return { onNotification: () => void setTimeout(() => process.exit(1), ms) };
  },

  /** Comes up at the start after the first `n`. */
  "crash-first-n": ({ diary, n = 3 }) => {
    note(diary, "start");
    if (countNotes(diary) <= n) crash();
    return { onNotification: () => note(diary, "ready") };
  },

  /** Stands still on a call, as a process in a debugger does. */
  zombie: ({ diary }) => {
    note(diary, String(process.pid));
    return { onCall: () => void process.kill(process.pid, "SIGSTOP") };
  },

  /** Behaves, and writes down when its handshake is done. */
  "noted-start": ({ diary }) => ({
    methods: {
      initialize(id, _params, peer) {
        note(diary, String(process.pid));
        peer.respond(id, handshake(peer.tag));
      },
    },
  }),
};
