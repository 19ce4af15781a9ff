import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";

import { childMarkerVariable, hostId, readStartTicks } from "./child-mark.ts";

/** Dash needs half the memory of what `/bin/sh` may be. */
const shells = ["/bin/dash", "/bin/sh"];

/** What the script finds where there is no `/proc`, as on macOS: there a group is known by its number alone. */
const noStart = "none";

/** One that is killed is replaced, unless somebody keeps killing it. */
const maxReplacements = 10;

/**
 * The watchdog hears of every server (`+ pid start limit`) and of every one of which nothing is left (`- pid`). When
 * its input ends, the host is gone, in whatever way: then it asks what is left to end, and kills the rest a little later.
 *
 * A process is ours if it carries a mark, or is in the group of a leader that still is the process we heard of. Linux
 * shows marks in `/proc`, macOS environments in `ps`.
 */
const script = `
trap '' HUP INT QUIT TERM
host=$1
limits=
groups=

started() {
  began=${noStart}
  { read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 0
  set -- \${stat##*) }
  shift 19
  began=$1
}

forget() {
  kept=
  for group in $groups; do
    [ "\${group%%:*}" = "$1" ] || kept="$kept $group"
  done
  groups=$kept
}

while read -r verb pid start limit; do
  case $verb in
    +)
      groups="$groups $pid:$start"
      [ -n "$limit" ] || continue
      prlimit --pid "$pid" --locks="$limit:$limit" 2>/dev/null
      case "|$limits|" in
        *"|$limit|"*) ;;
        *) limits="\${limits:+$limits|}$limit" ;;
      esac
      ;;
    -) forget "$pid" ;;
  esac
done

family() {
  if [ -d /proc/self ]; then
    {
      [ -z "$limits" ] || grep -lsE "^Max file locks +[0-9]+ +($limits) " /proc/[0-9]*/limits
      grep -lszE "^${childMarkerVariable}=(.*:)?$host[.]" /proc/[0-9]*/environ
    } | sed 's|^/proc/||; s|/.*||' | sort -u
  else
    ps -axEww -o pid= -o command= |
      sed -nE "s/^ *([0-9]+) .*${childMarkerVariable}=([^ ]*:)?$host[.].*/\\1/p"
  fi
}

strike() {
  for group in $groups; do
    started "\${group%%:*}"
    [ "$began" = "\${group#*:}" ] && kill -s "$1" -- "-\${group%%:*}" 2>/dev/null
  done
  for pid in $members; do
    kill -s "$1" "$pid" 2>/dev/null
  done
}

remain() {
  for pid in $members; do
    kill -0 "$pid" 2>/dev/null && return 0
  done
  return 1
}

[ -n "$groups" ] || exit 0
members=$(family)
strike TERM
for look in 1 2 3 4 5 6 7 8; do
  sleep 0.1
  remain || break
done
for look in 1 2 3 4 5 6 7 8 9 10; do
  members=$(family)
  strike KILL
  [ -n "$members" ] || break
  sleep 0.05
done
`;

/**
 * A small process beside this one that ends what this one started when this one is gone, be it killed. Where there
 * is no shell nothing of this happens. Windows needs none: Node puts its children into a job that ends with it.
 */
export class Watchdog {
  #shell: ChildProcess | undefined;
  #replacements = 0;
  readonly #watched = new Map<number, string>();

  /** Starts the shell unless it runs, and tells it what it should know already. Comes before the start of a server. */
  start(): void {
    if (this.#shell !== undefined || process.platform === "win32") return;
    const shell = shells.find((file) => existsSync(file));
    if (shell === undefined) return;
    const child = spawn(shell, ["-c", script, "plugboard-watchdog", hostId], {
      // A session of its own: whatever ends the host's does not end it.
      detached: true,
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const isOver = (): void => {
      if (this.#shell !== child) return;
      this.#shell = undefined;
      this.#replacements += 1;
      if (this.#watched.size > 0 && this.#replacements <= maxReplacements) this.start();
    };
    child.on("error", isOver).on("exit", isOver);
    child.stdin.on("error", isOver);
    // It must not keep this process from ending.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    this.#shell = child;
    for (const line of this.#watched.values()) child.stdin.write(line);
  }

  watch(pid: number, lockLimit: bigint | undefined): void {
    // Read here: the number cannot go to another process before this one has heard of the end.
    const start = process.platform === "linux" ? (readStartTicks(pid) ?? "gone") : noStart;
    const line = `+ ${pid} ${start} ${lockLimit ?? ""}\n`;
    this.#watched.set(pid, line);
    this.#shell?.stdin?.write(line);
  }

  forget(pid: number): void {
    if (this.#watched.delete(pid)) this.#shell?.stdin?.write(`- ${pid}\n`);
  }
}
