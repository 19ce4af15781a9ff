import { describe, expect, it } from "vitest";

import { filterTools, isToolAllowed } from "./tool-filter.ts";

const tools = ["create_issue", "list_issues", "delete_repo"].map((name) => ({ name }));

function kept(filter: Parameters<typeof filterTools>[1]): string[] {
  return filterTools(tools, filter).kept.map(({ name }) => name);
}

describe("filterTools", () => {
  it("CFG-33: no allow list keeps all, an empty one keeps none, any other keeps what it names", () => {
    expect(kept({})).toEqual(["create_issue", "list_issues", "delete_repo"]);
    expect(kept({ enabledTools: [] })).toEqual([]);
    expect(kept({ enabledTools: ["delete_repo", "create_issue"] })).toEqual([
      "create_issue",
      "delete_repo",
    ]);
  });

  it("CFG-34, DSC-12: the block list has the last word", () => {
    expect(kept({ disabledTools: ["delete_repo"] })).toEqual(["create_issue", "list_issues"]);
    const both = { enabledTools: ["create_issue", "delete_repo"], disabledTools: ["delete_repo"] };
    expect(kept(both)).toEqual(["create_issue"]);
    expect(isToolAllowed("delete_repo", both)).toBe(false);
    expect(isToolAllowed("create_issue", both)).toBe(true);
  });

  it("CFG-33: lists speak of original names, exactly", () => {
    expect(kept({ enabledTools: ["Create_Issue", "mcp__github__create_issue"] })).toEqual([]);
    expect(kept({ disabledTools: ["constructor", "__proto__"] })).toHaveLength(3);
  });

  it("DSC-20: an entry that matches nothing is warned about with near matches", () => {
    const { warnings } = filterTools(tools, {
      enabledTools: ["create_isue", "list_issues"],
      disabledTools: ["zzzzzzzz"],
    });
    expect(warnings).toEqual([
      'enabledTools names "create_isue", which the server does not offer. Closest: create_issue',
      'disabledTools names "zzzzzzzz", which the server does not offer',
    ]);
    expect(filterTools(tools, { enabledTools: ["list_issues"] }).warnings).toEqual([]);
  });

  it("DSC-21: the server's order is kept", () => {
    expect(kept({ enabledTools: ["delete_repo", "list_issues", "create_issue"] })).toEqual(
      tools.map(({ name }) => name),
    );
  });
});
