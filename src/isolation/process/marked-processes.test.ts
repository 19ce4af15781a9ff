import { spawn } from "node:child_process";
import { once } from "node:events";

import { describe, expect, it } from "vitest";

import { createChildMarker } from "./child-mark.ts";
import { findMarkedSync, markedProcesses } from "./marked-processes.ts";

/** Each process starts the next one and ends at once; the last one stays. */
const moving = `
hop() {
  i=0
  while [ $i -lt 2000 ]; do i=$((i + 1)); done
  [ $1 -gt 0 ] || exec sleep 1000
  hop $(($1 - 1)) &
  exit
}
hop 3000 </dev/null >/dev/null 2>&1 &
`;

describe.skipIf(process.platform !== "linux")("a family that moves from process to process", () => {
  it("STD-24, B2: is found at every look", async () => {
    const marker = createChildMarker();
    const child = spawn("/bin/sh", ["-c", moving], { env: marker.variables, stdio: "ignore" });
    await once(child, "exit");
    try {
      const looks: number[] = [];
      for (let look = 0; look < 40; look += 1)
        looks.push((await markedProcesses({ id: marker.id })).length);
      expect(looks.filter((count) => count === 0)).toEqual([]);
    } finally {
      for (let left = [0]; left.length > 0;) {
        left = [...findMarkedSync([{ id: marker.id }])];
        for (const pid of left) killIfThere(pid);
      }
    }
  });
});

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has moved on.
  }
}
