import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ownCommandNames } from "../../text/own-command.ts";
import { checkTexts, symptoms } from "./check-texts.ts";
import { connectionChecks } from "./connection-checks.ts";
import { entryChecks, permissionChecks } from "./entry-checks.ts";
import { checkRuntime, describeLeftovers, machineChecks, ownNodeRange } from "./machine-checks.ts";
import { describeClock, signInChecks } from "./sign-in-checks.ts";
import { toolChecks } from "./tool-checks.ts";

describe("the texts of the checks", () => {
  it("belong to a symptom each, so that a reader finds them", () => {
    const listed = new Set(symptoms.flatMap(({ checks }) => checks));
    expect(listed).toEqual(new Set(Object.keys(checkTexts)));
  });

  it("are those of checks that run", () => {
    const checks = [
      ...machineChecks,
      ...permissionChecks,
      ...entryChecks,
      ...connectionChecks,
      ...toolChecks,
    ];
    const run = [...checks.map(({ id }) => id), ...signInChecks];
    expect(new Set(run)).toEqual(new Set(Object.keys(checkTexts)));
  });

  it("name commands that exist", () => {
    const commands = Object.values(checkTexts).flatMap(({ fix }) =>
      [...fix.matchAll(/plugboard ([a-z-]+)/g)].map(([, name]) => name),
    );
    expect(commands.length).toBeGreaterThan(4);
    for (const name of commands) expect(ownCommandNames).toContain(name);
  });
});

describe("the check of leftovers", () => {
  it("names each process by number and command, and how to end it", () => {
    expect(describeLeftovers([])).toEqual({ verdict: "ok", evidence: "none" });
    const { verdict, evidence, fix } = describeLeftovers([process.pid]);
    expect([verdict, evidence.startsWith(`1 process: ${process.pid} (`)]).toEqual([
      "warning",
      true,
    ]);
    expect(fix).toContain(`kill ${process.pid}`);
    if (process.platform === "linux") expect(evidence).toContain("node");
  });
});

describe("the check of the clock", () => {
  it("lets pass what a token survives, and says which clock is ahead beyond that", () => {
    const apart = (milliseconds: number): unknown => describeClock(milliseconds, "auth.test");
    expect(apart(-30_400)).toEqual({ verdict: "ok", evidence: "30 s apart" });
    expect(apart(3_600_000)).toMatchObject({
      verdict: "warning",
      evidence: "this machine is 3600 s ahead of auth.test",
    });
    expect(apart(-61_000)).toMatchObject({
      verdict: "warning",
      evidence: "this machine is 61 s behind auth.test",
    });
  });
});

describe("the check of the runtime", () => {
  it("asks for what the manifest asks for", () => {
    const file = path.resolve(import.meta.dirname, "../../../package.json");
    const { engines } = JSON.parse(readFileSync(file, "utf8")) as { engines: { node: string } };
    expect(ownNodeRange).toBe(engines.node);
    expect(checkTexts.runtime.fix).toContain(engines.node.slice(2));
  });

  it.each([
    ["20.18.3", "problem"],
    ["20.19.0", "ok"],
    ["24.1.0", "ok"],
  ])("%s: %s", (version, verdict) => {
    expect(checkRuntime(version)).toMatchObject({
      verdict,
      evidence: expect.stringContaining(version),
    });
  });
});
