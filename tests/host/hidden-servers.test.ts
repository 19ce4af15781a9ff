import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type Session } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";

/** Every way in which a session is asked for a server by name. */
const ways: Readonly<Record<string, (session: Session, name: string) => Promise<unknown>>> = {
  ready: (session, name) => session.ready({ servers: [name] }),
  section: async (session, name) => session.section({ servers: [name] }),
  resources: ({ content }, name) => content.resources({ server: name }),
  read: ({ content }, name) => content.readResource(name, "a:b"),
  watch: ({ content }, name) => content.watchResource(name, "a:b", () => undefined),
  prompt: ({ content }, name) => content.prompt(name, "p"),
  template: (session, name) => session.promptTemplate(name, "p"),
};

/** What the session says about a server of that name, without the name itself. */
async function answers(session: Session, name: string): Promise<readonly unknown[]> {
  return await Promise.all(
    Object.entries(ways).map(async ([way, ask]) => {
      const error: unknown = await ask(session, name).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const { code, message, serverName, hint, details } = error as Record<string, unknown>;
      const text = JSON.stringify({ code, message, serverName, hint, details });
      return [way, JSON.parse(text.replaceAll(name, "it"))];
    }),
  );
}

describe("a server that another agent has for itself", () => {
  it("REG-02 REG-04: is for everybody else like one that does not exist, and no error names it", async () => {
    await using host = await createHost({
      config: false,
      servers: { files: testServerEntry(), payroll: testServerEntry() },
    });
    await host.connect("payroll", { owner: "boss" });
    const other = host.session({ agent: "other", level: "yolo" });
    const missing = await answers(other, "absent");
    expect(await answers(other, "payroll")).toEqual(missing);
    expect(missing).toContainEqual([
      "ready",
      {
        code: "server_unknown",
        message: 'no server "it"',
        details: { suggestions: [], configured: ["files"] },
      },
    ]);
    const boss = host.session({ agent: "boss", level: "yolo" });
    await expect(boss.ready({ servers: ["payrol"] })).rejects.toMatchObject({
      details: { suggestions: ["payroll"], configured: ["files", "payroll"] },
    });
    // A child of another name is not let in where its parent is not.
    const child = other.child({ agent: "boss" });
    expect([child.servers(), await answers(child, "payroll")]).toEqual([["files"], missing]);
  });

  it("leaves a section that had it, and so does one that was removed", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "plugboard-hidden-"));
    const file = path.join(folder, "mcp.json");
    const write = (servers: object) => writeFile(file, JSON.stringify({ servers }));
    await write({ files: testServerEntry(), payroll: testServerEntry() });
    await using host = await createHost({ cwd: folder, configFiles: [file], watch: false });
    const session = host.session({ agent: "other", level: "yolo" });
    await using section = await session.section().open();
    const heads = () => section.render().match(/### \w+/g);
    expect(heads()).toEqual(["### files", "### payroll"]);
    await host.connect("payroll", { owner: "boss" });
    expect([heads(), section.tools().length]).toEqual([["### files"], 3]);
    await write({ payroll: testServerEntry() });
    await host.reload();
    expect([heads(), section.tools()]).toEqual([null, []]);
    await rm(folder, { recursive: true });
  });
});
