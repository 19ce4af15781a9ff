import { describe, expect, it } from "vitest";

import { readCall, readServer } from "./server-words.ts";

describe("a server that is typed", () => {
  it.each([
    [["files"], ["tools", "files"], { name: "files", words: "files" }],
    // A name that begins with a dash cannot be typed in another way.
    [["-x"], ["tools", "--", "-x"], { name: "-x", words: "-x" }],
  ])("%j is the name of a configured one", (words, line, expected) => {
    expect(readServer(words, {}, line)).toEqual(expected);
  });

  it.each([
    [["node", "server.js"], "server"],
    [["npx", "-y", "@modelcontextprotocol/server-filesystem", "."], "server-filesystem"],
    [["uvx", "mcp-server-git"], "mcp-server-git"],
    [["/usr/bin/python3.11", "-m", "My Server"], "my-server"],
    [["sh", "-c", "…"], "server"],
  ])("the command %j is called %s", (launch, name) => {
    const { entry, ...typed } = readServer(launch, {}, ["test", "--", ...launch]);
    expect(typed).toMatchObject({ name });
    expect(entry).toEqual({ command: launch[0], args: launch.slice(1) });
  });

  it("is reached at an address, with its headers", () => {
    const options = { header: ["X-Team: core"], transport: "sse" };
    expect(readServer(["http://127.0.0.1:9/x"], options, [])).toEqual({
      name: "127-0-0-1-9",
      entry: { url: "http://127.0.0.1:9/x", transport: "sse", headers: { "X-Team": "core" } },
      words: "http://127.0.0.1:9/x",
    });
  });

  it("is typed again as it was, each word one word of a shell", () => {
    const launch = ["node", "my server.js"];
    expect(readServer(launch, {}, ["--", ...launch]).words).toBe("-- node 'my server.js'");
  });

  it.each([
    [["a", "b"], ["tools", "a", "b"], '"b" is too much'],
    [["a", "node", "x"], ["tools", "a", "--", "node", "x"], '"a" is too much'],
  ])("%j is more than one", (words, line, message) => {
    expect(() => readServer(words, {}, line)).toThrow(message);
  });
});

describe("a call that is typed", () => {
  it("has its words in front of --, and an unconfigured server behind it", () => {
    const line = ["call", "add", "a=1", "--", "node", "x.js"];
    const { server, words } = readCall(["add", "a=1", "node", "x.js"], {}, line);
    expect(words).toEqual(["add", "a=1"]);
    expect(server).toMatchObject({ name: "x", entry: { command: "node", args: ["x.js"] } });
  });

  it("names the address in front of the tool", () => {
    const typed = ["http://127.0.0.1:9/mcp", "add", "a=1"];
    const { server, words } = readCall(typed, {}, ["call", ...typed]);
    expect(words).toEqual(["add", "a=1"]);
    expect(server).toMatchObject({ entry: { url: "http://127.0.0.1:9/mcp" } });
  });

  it("is of a configured server otherwise", () => {
    const words = ["demo.add", "a=1"];
    expect(readCall(words, {}, ["call", ...words])).toEqual({ server: undefined, words });
  });
});
