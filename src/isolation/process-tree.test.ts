import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { promisify } from "node:util";

import { afterEach, describe, expect, it } from "vitest";

import { fixtures, isAlive } from "../../tests/fixtures/stdio/observe-server.ts";
import { childMarkerVariable } from "./marked-processes.ts";
import { createChildMarker, signalGroup, sweepMarked } from "./process-tree.ts";

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** A process that stays, its environment all its own. */
async function startMarked(variables: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn("/bin/sleep", ["600"], { env: variables, stdio: "ignore", detached: true });
  started.push(child);
  await once(child, "spawn");
  return child;
}

describe.skipIf(process.platform === "win32")("signalling a group", () => {
  it("STD-09: reaches the group and says when nobody is left", async () => {
    const child = await startMarked({});
    const exit = once(child, "exit");
    expect(signalGroup(child.pid!, 0)).toBe(true);
    expect(signalGroup(child.pid!, "SIGTERM")).toBe(true);
    await expect(exit).resolves.toStrictEqual([null, "SIGTERM"]);
    expect(signalGroup(child.pid!, 0)).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("finding processes by their marker", () => {
  it("B9: signals the marked ones in whatever group, and no others", async () => {
    const [marker, other] = [createChildMarker(), createChildMarker()];
    const marked = [await startMarked(marker.variables), await startMarked(marker.variables)];
    const stranger = await startMarked(other.variables);
    const exits = marked.map((child) => once(child, "exit"));
    await expect(sweepMarked(marker.id, 0)).resolves.toBe(2);
    await expect(sweepMarked(marker.id, "SIGKILL")).resolves.toBe(2);
    await Promise.all(exits);
    await expect(sweepMarked(marker.id, 0)).resolves.toBe(0);
    expect(isAlive(stranger.pid!)).toBe(true);
  });

  it("many searches at once each find their own", async () => {
    const markers = Array.from({ length: 5 }, createChildMarker);
    for (const { variables } of markers) await startMarked(variables);
    const found = await Promise.all(markers.map(({ id }) => sweepMarked(id, 0)));
    expect(found).toStrictEqual([1, 1, 1, 1, 1]);
  });

  it("a value that only mentions the marker's variable is not the marker", async () => {
    const { id } = createChildMarker();
    await startMarked({ OTHER: `${childMarkerVariable}=${id}`, [`X${childMarkerVariable}`]: id });
    await expect(sweepMarked(id, 0)).resolves.toBe(0);
  });

  it("the servers of a host that is a server itself carry both markers", async () => {
    const outer = createChildMarker();
    process.env[childMarkerVariable] = outer.id;
    const inner = createChildMarker();
    delete process.env[childMarkerVariable];
    await startMarked({ A: "1", ...inner.variables, Z: "1" });
    await expect(sweepMarked(inner.id, 0)).resolves.toBe(1);
    await expect(sweepMarked(outer.id, 0)).resolves.toBe(1);
  });
});

describe.skipIf(process.platform !== "linux")("the end of the host", () => {
  it.each([
    ["by process.exit", "exit"],
    ["by an uncaught error", "throw"],
  ])("STD-24: ends every process of its servers, %s", async (_name, how) => {
    const host = promisify(execFile)(process.execPath, [
      "--import",
      "tsx",
      path.join(fixtures, "exiting-host.mjs"),
      how,
    ]);
    const { stdout } = await host.catch((error: { readonly stdout: string }) => error);
    const pids = JSON.parse(stdout) as number[];
    expect(pids).toHaveLength(3);
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
  });
});
