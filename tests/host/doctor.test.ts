import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import type { DoctorReport, Finding, McpHost } from "../../src/index.ts";
import { createRecordedServer, serveHttp, testServerEntry } from "../../src/testing/index.ts";
import { sendJson, ScriptedServer } from "../fixtures/http/scripted-server.ts";
import { abandonedUrl } from "../fixtures/network/abandoned-url.ts";
import { hasOpenssl, startSelfSigned } from "../fixtures/network/self-signed.ts";
import { makeProject } from "./project.ts";

const silentEntry = { command: process.execPath, args: ["-e", "setInterval(() => {}, 60_000)"] };

/** The only report about a server. */
async function examine(host: McpHost, name: string): Promise<DoctorReport> {
  const [report] = await host.doctor(name);
  return report!;
}

function findingOf({ findings }: DoctorReport, check: string): Finding | undefined {
  return findings.find((finding) => finding.check === check);
}

/** The checks of a report that found something, with their verdicts. */
function flaws({ findings }: DoctorReport): readonly string[] {
  return findings.flatMap(({ check, verdict }) =>
    verdict === "ok" ? [] : [`${check} ${verdict}`],
  );
}

describe("the doctor", () => {
  it("DOC-01: runs the checks of a healthy server and of the machine, and complains of nothing", async () => {
    await using project = await makeProject();
    await using host = await project.host({ servers: { good: testServerEntry() } });
    const reports = await host.doctor();
    expect(reports.flatMap((report) => report.findings.map(({ check }) => check))).toEqual([
      "runtime",
      "store",
      "secrets",
      "config",
      "files",
      "leftovers",
      "enabled",
      "approved",
      "command",
      "node",
      "answers",
      "tools",
      "offered",
    ]);
    expect(reports.flatMap(flaws)).toEqual([]);
    expect(reports.map(({ server }) => server).filter((name) => name !== undefined)).toEqual([
      "good",
    ]);
    expect(host.server("good").state).toBe("connected");
  });

  it("DOC-01: names what keeps a process from starting", async () => {
    await using project = await makeProject();
    const exits = 'console.error("Error: no such folder ./x"); process.exit(3)';
    await using host = await project.host({
      env: { PATH: process.env["PATH"] },
      servers: {
        typo: { command: "no-such-program" },
        unset: { ...testServerEntry(), env: { KEY: "${NOT_SET_ANYWHERE}" } },
        exits: { command: process.execPath, args: ["-e", exits] },
        off: { ...testServerEntry(), enabled: false },
      },
    });
    const [typo, unset, ended, off] = await Promise.all(
      ["typo", "unset", "exits", "off"].map((name) => examine(host, name)),
    );
    expect(findingOf(typo!, "command")).toMatchObject({
      verdict: "problem",
      code: "command_not_found",
      evidence: expect.stringContaining('"no-such-program"'),
      fix: expect.stringContaining("install it"),
    });
    expect(findingOf(unset!, "variables")).toMatchObject({
      verdict: "problem",
      code: "variable_unset",
      evidence: 'not set: NOT_SET_ANYWHERE (in "env.KEY")',
      fix: expect.stringContaining("export NOT_SET_ANYWHERE"),
    });
    expect(flaws(ended!)).toEqual(["answers problem", "log warning"]);
    expect(findingOf(ended!, "answers")).toMatchObject({
      code: "start_exit",
      evidence: expect.stringContaining("exit code 3"),
    });
    expect(findingOf(ended!, "log")?.evidence).toContain("no such folder ./x");
    expect(flaws(off!)).toEqual(["enabled warning"]);
    // A problem that is seen beforehand starts nothing.
    expect([host.server("typo").state, host.server("unset").state]).toEqual(["idle", "idle"]);
  });

  it("DOC-01: starts no server that nobody approved, and looks at none of its files", async () => {
    await using project = await makeProject();
    const mark = path.join(project.cwd, "started");
    const code = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "")`;
    await project.write({ command: process.execPath, args: ["-e", code] });
    const asked: string[] = [];
    await using host = await project.host({
      human: { confirm: async ({ kind }) => (asked.push(kind), "server-always") },
    });
    const report = await examine(host, "project");
    expect(report.findings.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      "enabled ok",
      "approved warning",
    ]);
    expect(findingOf(report, "approved")?.fix).toContain("approve project");
    expect([asked, host.server("project").state]).toEqual([[], "pending"]);
  });

  it("DOC-01: names what keeps an address from answering", async () => {
    await using project = await makeProject();
    await using locked = await ScriptedServer.start((_request, response) =>
      sendJson(response, "{}", 401),
    );
    await using host = await project.host({
      env: { HTTPS_PROXY: "ftp://proxy", https_proxy: "ftp://proxy" },
      servers: {
        refused: { url: await abandonedUrl() },
        locked: { url: locked.url },
        metadata: { url: "http://169.254.169.254/mcp" },
        proxied: { url: "https://example.com/mcp" },
      },
    });
    const [refused, signedOut, metadata, proxied] = await Promise.all(
      ["refused", "locked", "metadata", "proxied"].map((name) => examine(host, name)),
    );
    expect(flaws(refused!)).toEqual(["reachable problem"]);
    expect(findingOf(refused!, "reachable")).toMatchObject({
      code: "unreachable",
      evidence: expect.stringContaining("connection refused"),
      fix: expect.stringContaining("start it"),
    });
    expect(flaws(signedOut!)).toEqual(["auth problem"]);
    expect(findingOf(signedOut!, "reachable")?.verdict).toBe("ok");
    expect(findingOf(signedOut!, "auth")?.fix).toContain("plugboard login locked --token -");
    expect(findingOf(metadata!, "address")).toMatchObject({ code: "blocked_address" });
    expect(findingOf(proxied!, "proxy")).toMatchObject({
      verdict: "problem",
      evidence: expect.stringContaining("proxy"),
    });
  });

  it.skipIf(!hasOpenssl)("DOC-01: names a certificate that is not trusted", async () => {
    await using project = await makeProject();
    await using server = await startSelfSigned("example.com");
    const url = `https://localhost:${server.port}/mcp`;
    await using host = await project.host({ servers: { secure: { url } } });
    const report = await examine(host, "secure");
    expect(flaws(report)).toEqual(["tls problem"]);
    expect(findingOf(report, "tls")).toMatchObject({
      evidence: expect.stringContaining("self-signed"),
      fix: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  });

  it("DOC-01: names why tools do not appear", async () => {
    await using project = await makeProject();
    const empty = await serveHttp(createRecordedServer({ tools: [] }));
    onTestFinished(() => empty.close());
    await using host = await project.host({
      servers: {
        empty: { url: empty.url, transport: "streamable-http" },
        filtered: { ...testServerEntry(), enabledTools: [] },
        misspelt: { ...testServerEntry(), disabledTools: ["ech"] },
        whole: testServerEntry(),
      },
    });
    const reports = await Promise.all(
      ["empty", "filtered", "misspelt"].map((name) => examine(host, name)),
    );
    expect(reports.map((report) => findingOf(report, "tools")?.evidence)).toEqual([
      "it lists none",
      "the entry leaves all of its tools out",
      expect.stringContaining('disabledTools names "ech"'),
    ]);
    const session = host.session({ agent: "caged", level: "sandboxed" });
    expect(findingOf(await examine(host, "whole"), "offered")).toMatchObject({
      verdict: "warning",
      evidence: expect.stringMatching(/^agent "caged" is offered none of them \(level\)/),
    });
    expect(session.tools()).toEqual([]);
  });

  it("LIM-15: after a repair nothing has to be restarted: the next look finds the tools", async () => {
    await using project = await makeProject();
    const user = path.join(project.home, ".plugboard", "mcp.json");
    await mkdir(path.dirname(user), { recursive: true, mode: 0o700 });
    const write = (entry: object): Promise<void> =>
      writeFile(user, JSON.stringify({ mcpServers: { it: entry } }), { mode: 0o600 });
    await write({ command: "no-such-program" });
    await using host = await project.host();
    const session = host.session({ level: "trusted", human: { confirm: async () => "no" } });
    expect(flaws(await examine(host, "it"))).toEqual(["command problem"]);
    await write(testServerEntry());
    await host.reload();
    expect(flaws(await examine(host, "it"))).toEqual([]);
    expect(session.tools().map(({ originalName }) => originalName)).toEqual([
      "echo",
      "get_time",
      "add",
    ]);
  });

  it("DOC-01: reads in the audit trail why calls fail", async () => {
    await using project = await makeProject();
    await using host = await project.host({ servers: { it: testServerEntry() } });
    const session = host.session({ level: "yolo" });
    await session.call("mcp__it__add", { a: 1, b: 2 });
    expect(findingOf(await examine(host, "it"), "calls")?.verdict).toBe("ok");
    await session.call("mcp__it__add", { a: "one" });
    expect(findingOf(await examine(host, "it"), "calls")).toMatchObject({
      verdict: "warning",
      evidence: "1 of the last 2 failed: 1 × invalid_arguments; the newest is add",
      fix: expect.stringContaining("tools it --schema"),
    });
    await session.call("mcp__it__add", { a: 1, b: 2 });
    expect(findingOf(await examine(host, "it"), "calls")).toMatchObject({ verdict: "ok" });
  });

  it("DOC-01: names files that others can write, a store that cannot be used, entries that are wrong", async () => {
    await using project = await makeProject();
    await project.write({ command: "x", comand: "y" });
    const file = path.join(project.cwd, ".plugboard", "mcp.json");
    await chmod(file, 0o666);
    const store = path.join(project.home, "plugboard.db");
    await writeFile(store, "no database", { mode: 0o644 });
    await using host = await project.host({ store, logger: false });
    const findings = (await host.doctor()).flatMap((report) => report.findings);
    const found = (check: string): Finding | undefined =>
      findings.find((finding) => finding.check === check);
    expect(found("files")).toMatchObject({
      verdict: "warning",
      evidence: `every user may write ${file}`,
      fix: `read it, then run: chmod o-w ${file}`,
    });
    expect(found("store")).toMatchObject({ verdict: "problem", code: "store_failed" });
    expect(found("store")?.fix).toContain("chmod 600");
    // Told with its server, and not once more with the machine.
    expect(findings.filter(({ check }) => check === "config")).toMatchObject([
      { verdict: "ok" },
      { verdict: "warning", evidence: expect.stringContaining('"comand"') },
    ]);
  });

  it("reports every server as soon as it is known, whatever another one does", async () => {
    await using project = await makeProject();
    await using host = await project.host({
      servers: { silent: silentEntry, good: testServerEntry() },
    });
    const stop = new AbortController();
    const reported: (string | undefined)[] = [];
    const looking = host.doctor(undefined, {
      signal: stop.signal,
      timeoutMs: 600_000,
      onReport: ({ server }) => {
        reported.push(server);
        if (server === "good") stop.abort();
      },
    });
    await expect(looking).rejects.toMatchObject({ code: "cancelled" });
    expect(reported).toContain("good");
    expect(reported).not.toContain("silent");
  });

  it("ends at its limit, and says who had not answered by then", async () => {
    await using project = await makeProject();
    // A port that takes connections and says nothing.
    const mute = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void mute.close());
    await new Promise((resolve) => mute.once("listening", resolve));
    const { port } = mute.address() as { readonly port: number };
    await using host = await project.host({
      servers: { silent: silentEntry, mute: { url: `http://127.0.0.1:${port}/mcp` } },
    });
    for (const name of ["silent", "mute"]) {
      const [report] = await host.doctor(name, { timeoutMs: 100 });
      expect(flaws(report!)).toEqual(["answers problem"]);
      expect(findingOf(report!, "answers")).toMatchObject({
        code: "start_timeout",
        evidence: expect.stringContaining("0.1 s"),
      });
    }
  });

  it("refuses a name that does not exist", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    await expect(host.doctor("nobody")).rejects.toMatchObject({ code: "server_unknown" });
    await expect(host.doctor(1 as unknown as string)).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  });
});
