import { describe, expect, it } from "vitest";

import {
  pascalCase,
  serverFunctionName,
  serverTypeName,
  toolTypeName,
  toolTypeNames,
} from "./type-names.ts";

describe("names of types", () => {
  it("BRG-07: are the words of server and tool in PascalCase", () => {
    expect(toolTypeName("github", "create_issue")).toBe("GithubCreateIssue");
    expect(toolTypeName("my-server", "listRepos.v2")).toBe("MyServerListReposV2");
    expect(pascalCase("café au lait")).toBe("CafeAuLait");
  });

  it("BRG-07: tools with the same words get a mark of their own, on all sides and in any order", () => {
    const tools = ["create_issue", "create-issue", "list"];
    const names = toolTypeNames("github", tools);
    expect(names.get("list")).toBe("GithubList");
    expect(names.get("create_issue")).toMatch(/^GithubCreateIssue_[0-9a-z]{7}$/);
    expect(new Set(names.values()).size).toBe(3);
    const reversed = toolTypeNames("github", tools.toReversed());
    for (const tool of tools) expect(reversed.get(tool)).toBe(names.get(tool));
  });

  it("BRG-07: a name without letters or digits, or too long a one, is told apart by a mark", () => {
    const names = toolTypeNames("x", ["搜索", "検索", "", "a".repeat(100), "a".repeat(101)]);
    expect(new Set(names.values()).size).toBe(5);
    for (const name of names.values()) expect(name).toMatch(/^X(?:Tool|A{1}a{63})_[0-9a-z]{7}$/);
  });

  it.each([
    ["github", "Github", "github"],
    ["GitHub API", "GitHubAPI", "gitHubAPI"],
    ["API", "API", "api"],
    ["7zip", "_7zip", "_7zip"],
    ["delete", "Delete", "deleteServer"],
    ["new", "New", "newServer"],
  ])("the server %s has types %s… and the function %s", (server, type, name) => {
    expect(serverTypeName(server)).toBe(type);
    expect(serverFunctionName(server)).toBe(name);
  });

  it("a server whose name has no usable character has names all the same", () => {
    expect(serverTypeName("服务")).toMatch(/^Server_[0-9a-z]{7}$/);
    expect(serverFunctionName("服务")).toMatch(/^server_[0-9a-z]{7}$/);
  });
});
