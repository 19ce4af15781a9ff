import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { assignPublicNames, type NameEntry } from "./public-names.ts";
import {
  buildMcpSkillName,
  isMcpTool,
  makeToolName,
  mayOwnName,
  namingStrategy,
  parseToolName,
  startOfNames,
} from "./tool-names.ts";

const valid = /^[A-Za-z0-9_-]{1,64}$/;

function namesOf(
  entries: readonly NameEntry[],
  reserved: readonly string[] = [],
): (string | undefined)[] {
  return [...assignPublicNames(entries, { reserved }).names];
}

describe("the default scheme", () => {
  it("NAM-01, NAM-02: joins server and tool, and takes them apart again", () => {
    expect(makeToolName("filesystem", "read_file")).toBe("mcp__filesystem__read_file");
    expect(parseToolName("mcp__filesystem__read_file")).toEqual({
      server: "filesystem",
      tool: "read_file",
    });
  });

  it.each(["read_file", "mcp_github_list", "mcp__", "mcp__a", "mcp__a__", "", "mcp____x"])(
    "NAM-02, NAM-18: %j is no name of ours",
    (name) => {
      expect(parseToolName(name)).toEqual({ server: "", tool: name });
      expect(isMcpTool(name)).toBe(false);
    },
  );

  it("NAM-03: the same tool on two servers has two names", () => {
    expect(
      namesOf([
        { server: "a", tool: "query" },
        { server: "b", tool: "query" },
      ]),
    ).toEqual(["mcp__a__query", "mcp__b__query"]);
  });

  it("NAM-16: the first separator ends the server, and a server cannot contain one", () => {
    expect(parseToolName("mcp__a__b__c")).toEqual({ server: "a", tool: "b__c" });
    expect(parseToolName("mcp__a___b")).toEqual({ server: "a", tool: "_b" });
    for (const server of ["a__b", "a_", "a___", "_a", "__", "_", "a-5fb", "a-2d5f", "a_-5f_"])
      for (const tool of ["c", "_c", "__c", "c__d", "_"]) {
        const name = makeToolName(server, tool);
        expect(parseToolName(name)).toEqual({ server, tool });
        expect(isMcpTool(name)).toBe(true);
      }
    expect(makeToolName("a__b", "c")).not.toBe(makeToolName("a", "b__c"));
    expect(makeToolName("a_", "b")).not.toBe(makeToolName("a", "_b"));
  });

  it("NAM-16: every valid pair of moderate length comes back exactly", () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
    fc.assert(
      fc.property(part, part, (server, tool) => {
        expect(parseToolName(makeToolName(server, tool))).toEqual({ server, tool });
      }),
    );
  });

  it("NAM-17: keeps case, folds compatible forms, and lets no other character through", () => {
    expect(makeToolName("GitHub", "ListRepos")).toBe("mcp__GitHub__ListRepos");
    expect(makeToolName("GitHub API", "list.repos")).toBe("mcp__GitHub-API__list_repos");
    expect(makeToolName("ｇｉｔ", "ﬁnd")).toBe("mcp__git__find");
    expect(makeToolName("git", "раураl\u200B\u202E")).toBe("mcp__git__l");
  });

  it("NAM-12: a long name is cut with a hash of where it comes from", () => {
    const long = "x".repeat(80);
    const [one, two, other] = namesOf([
      { server: "s", tool: `${long}1` },
      { server: "s", tool: `${long}2` },
      { server: "t", tool: `${long}1` },
    ]);
    expect(one).toMatch(/^mcp__s__x{47}_[0-9a-f]{8}$/);
    expect(new Set([one, two, other]).size).toBe(3);
    expect(one).toHaveLength(64);
    expect(makeToolName("s", `${long}1`)).toBe(one);
  });

  it("NAM-12: a long server name leaves room for the tool", () => {
    const uuid = "123e4567-e89b-12d3-a456-426614174000";
    expect(makeToolName(uuid, "create_issue")).toBe(`mcp__${uuid}__create_issue`);
    const name = makeToolName("server_".repeat(20), "create_issue");
    expect(name).toMatch(/^mcp__.{1,40}__create_issue$/);
    expect(name).toMatch(valid);
    expect(isMcpTool(name)).toBe(true);
    expect(makeToolName("_".repeat(100), "a")).toMatch(valid);
  });

  it("NAM-14: a name with nothing usable gets a stable one of its own", () => {
    const names = namesOf([
      { server: "s", tool: "@#$" },
      { server: "s", tool: "検索" },
      { server: "日本", tool: "a" },
      { server: "", tool: "" },
    ]);
    for (const name of names) expect(name).toMatch(valid);
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toMatch(/^mcp__s__tool_[0-9a-f]{8}$/);
    expect(makeToolName("s", "@#$")).toBe(names[0]);
  });
});

describe("the scheme mcp_server_tool", () => {
  it.each([
    ["NAM-05", "GitHub API", "list-repos", "mcp_github_api_list_repos"],
    ["NAM-06", "github", "list-repos", "mcp_github_list_repos"],
    ["NAM-07", "evil/../path", "../../etc", "mcp_evil_path_etc"],
    ["NAM-09", "github", "create_issue", "mcp_github_create_issue"],
    ["NAM-09", "slack", "send_message", "mcp_slack_send_message"],
    ["NAM-09", "database", "query", "mcp_database_query"],
    ["NAM-17", "Über", "Ｌｉｓｔ", "mcp_ber_list"],
    ["NAM-04", "a__b", "c--d", "mcp_a_b_c_d"],
  ])("NAM-04, NAM-05, NAM-06, NAM-07, NAM-09, NAM-17: %s: %s and %s", (_id, server, tool, name) => {
    expect(buildMcpSkillName(server, tool)).toBe(name);
    expect(namesOf([{ server, tool, naming: "mcp_server_tool" }])).toEqual([name]);
  });

  it.each([
    ["github", "list-repos", "mcp_github_list-repos"],
    ["GitHub  API", "a--b", "mcp_github_api_a_b"],
    ["123", "456", "mcp__123__456"],
  ])("NAM-04: keepHyphens reproduces the names of NEXUS3: %s and %s", (server, tool, name) => {
    expect(buildMcpSkillName(server, tool, { keepHyphens: true })).toBe(name);
    const entries = [{ server, tool, naming: "mcp_server_tool" }] as const;
    expect(assignPublicNames(entries, { keepHyphens: true }).names).toEqual([name]);
  });

  it("NAM-15: is taken apart only where there is one way to do it", () => {
    const strategy = namingStrategy("mcp_server_tool");
    expect(strategy.parse("mcp_github_search")).toEqual({ server: "github", tool: "search" });
    expect(strategy.parse("mcp_trusted_evil_cmd")).toBeNull();
    expect(strategy.parse("mcp__a__b")).toBeNull();
    expect(strategy.owns("mcp__a__b")).toBe(false);
    expect(strategy.owns("mcp_github_list_repos")).toBe(true);
    expect(strategy.owns("github_list")).toBe(false);
  });

  it("NAM-13, NAM-15: two pairs that read the same get a hash each", () => {
    const entries: NameEntry[] = [
      { server: "trusted", tool: "evil_cmd", naming: "mcp_server_tool" },
      { server: "trusted_evil", tool: "cmd", naming: "mcp_server_tool" },
    ];
    const { names, warnings } = assignPublicNames(entries);
    expect(names[0]).toMatch(/^mcp_trusted_evil_cmd_[0-9a-f]{8}$/);
    expect(names[1]).toMatch(/^mcp_trusted_evil_cmd_[0-9a-f]{8}$/);
    expect(names[0]).not.toBe(names[1]);
    expect(warnings).toEqual([
      {
        kind: "collision",
        entries: [0, 1],
        text: '"evil_cmd" of "trusted", "cmd" of "trusted_evil" would all be called mcp_trusted_evil_cmd; a hash was added to each name',
      },
    ]);
  });
});

describe("the scheme prefix_tool", () => {
  it("NAM-10, CFG-32: puts the prefix, by default the server's name, before the tool", () => {
    expect(
      namesOf([
        { server: "github", tool: "create_issue", naming: "prefix_tool" },
        { server: "filesystem", tool: "read_file", naming: "prefix_tool" },
        { server: "github", tool: "search", prefix: "gh", naming: "prefix_tool" },
      ]),
    ).toEqual(["github_create_issue", "filesystem_read_file", "gh_search"]);
  });

  it("NAM-12, NAM-17: is lower case only", () => {
    const [name] = namesOf([{ server: "My Server", tool: "Do.It", naming: "prefix_tool" }]);
    expect(name).toBe("my-server_do_it");
    const [long] = namesOf([{ server: "S", tool: "X".repeat(100), naming: "prefix_tool" }]);
    expect(long).toMatch(/^[a-z0-9_-]{64}$/);
  });

  it("NAM-15: is never taken apart", () => {
    const strategy = namingStrategy("prefix_tool");
    expect(strategy.parse("github_create_issue")).toBeNull();
    expect(strategy.owns("github_create_issue")).toBe(true);
    expect(strategy.owns("mcp__a__b")).toBe(false);
  });
});

describe("assignPublicNames", () => {
  it("NAM-12: makes whatever a function returns valid", () => {
    const entries = ["a b", "", "é", "x".repeat(200)].map((tool) => ({
      server: "s",
      tool,
      naming: (_server: string, name: string) => name,
    }));
    const names = namesOf(entries);
    expect(names[0]).toBe("a_b");
    for (const name of names) expect(name).toMatch(valid);
    expect(new Set(names).size).toBe(4);
  });

  it("NAM-13, L3: of one of the user and others of a project the user's keeps its name", () => {
    const naming = (_server: string, tool: string) => tool;
    const user = { server: "github", tool: "create", naming };
    const project = { server: "project", tool: "create", naming, isOfProject: true };
    const { names, warnings } = assignPublicNames([project, user]);
    expect(names).toEqual([expect.stringMatching(/^create_[0-9a-f]{8}$/), "create"]);
    expect(warnings.map(({ text }) => text)).toEqual([
      '"create" of "project" would take the name create from "create" of "github"; a hash was added to it',
    ]);
    // Where trust is equal, neither has it.
    for (const others of [
      [user, { ...user, server: "other" }, project],
      [project, { ...project, server: "other" }],
    ])
      expect(namesOf(others)).toEqual(
        others.map((): unknown => expect.stringMatching(/^create_[0-9a-f]{8}$/)),
      );
    // And a native tool gives way to nobody.
    expect(namesOf([project, user], ["create"])).not.toContain("create");
  });

  it("NAM-13, L3: a tool of a project is never named as a server of the user could name its own", () => {
    const project = {
      server: "project",
      naming: "prefix_tool",
      prefix: "github",
      isOfProject: true,
    } as const;
    const entries = [
      { ...project, tool: "create" },
      { ...project, tool: "create", server: "other", prefix: "git" },
      { server: "github", tool: "list", naming: "prefix_tool" },
    ] as const;
    const start = startOfNames({ name: "github" }, "prefix_tool");
    const { names, warnings } = assignPublicNames(entries, { usersOwn: [start ?? ""] });
    expect(names).toEqual([
      expect.stringMatching(/^github_create_[0-9a-f]{8}$/),
      "git_create",
      "github_list",
    ]);
    expect(warnings).toMatchObject([{ kind: "collision", entries: [0] }]);
  });

  it("NAM-13: a native tool keeps its name", () => {
    const { names, warnings } = assignPublicNames(
      [
        { server: "shell", tool: "run", naming: "prefix_tool" },
        { server: "shell", tool: "stop", naming: "prefix_tool" },
      ],
      { reserved: ["shell_run"] },
    );
    expect(names[0]).toMatch(/^shell_run_[0-9a-f]{8}$/);
    expect(names[1]).toBe("shell_stop");
    expect(warnings).toMatchObject([{ kind: "reserved", entries: [0] }]);
  });

  it("NAM-13: a name made to equal another's hashed one gains nothing", () => {
    const pair: NameEntry[] = [
      { server: "a", tool: "x.y" },
      { server: "a", tool: "x_y" },
    ];
    const [hashed] = namesOf(pair);
    const thief: NameEntry = { server: "evil", tool: "t", naming: () => hashed ?? "" };
    const names = namesOf([...pair, thief]);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).not.toBe(hashed);
  });

  it("NAM-13: names do not depend on the order of servers", () => {
    const server = fc.constantFrom("a", "a_b", "A", "b c", "b-c", "x__y");
    const tool = fc.constantFrom("t", "b_t", "T", "t.u", "t_u", "@", "#", "y".repeat(70));
    const naming = fc.constantFrom("mcp__server__tool" as const, "mcp_server_tool", "prefix_tool");
    const entries = fc.uniqueArray(fc.record({ server, tool, naming }), {
      maxLength: 20,
      selector: (entry) => `${entry.server} ${entry.tool}`,
    });
    fc.assert(
      fc.property(entries, (given) => {
        const names = namesOf(given, ["a_t"]);
        for (const name of names) expect(name).toMatch(valid);
        expect(new Set(names).size).toBe(given.length);
        expect(names).not.toContain("a_t");
        expect(namesOf(given.toReversed(), ["a_t"])).toEqual(names.toReversed());
      }),
    );
  });

  it("NAM-13: in the default scheme no name changes because another server joined", () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_-]{1,45}$/);
    const entries = fc.array(fc.record({ server: part, tool: part }), { maxLength: 8 });
    fc.assert(
      fc.property(entries, entries, (before, joined) => {
        const others = joined.filter(({ server }) =>
          before.every((entry) => entry.server !== server),
        );
        expect(namesOf([...before, ...others]).slice(0, before.length)).toEqual(namesOf(before));
      }),
    );
  });

  it("DSC-18: of two equal tools of one server only the first has a name", () => {
    const { names, warnings } = assignPublicNames([
      { server: "s", tool: "t" },
      { server: "s", tool: "t" },
    ]);
    expect(names).toEqual(["mcp__s__t", undefined]);
    expect(warnings).toMatchObject([{ kind: "duplicate", entries: [0, 1] }]);
  });

  it("NAM-13: names that differ only in case are kept and warned about", () => {
    const { names, warnings } = assignPublicNames([
      { server: "s", tool: "Query" },
      { server: "s", tool: "query" },
    ]);
    expect(names).toEqual(["mcp__s__Query", "mcp__s__query"]);
    expect(warnings).toMatchObject([{ kind: "case", entries: [0, 1] }]);
  });

  it("NAM-13: warnings show no control characters of a server", () => {
    const { warnings } = assignPublicNames([
      { server: "s", tool: "\u001B[31ma.b" },
      { server: "s", tool: "\u001B[31ma_b" },
    ]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.text).not.toContain("\u001B");
  });
});

describe("mayOwnName", () => {
  it("NAM-15: tells which servers an unknown name could belong to", () => {
    expect(mayOwnName("mcp__git__log", { name: "git" }, "mcp__server__tool")).toBe(true);
    expect(mayOwnName("mcp__git_hub__log", { name: "git" }, "mcp__server__tool")).toBe(false);
    expect(mayOwnName("mcp__a-5f__x", { name: "a_" }, "mcp__server__tool")).toBe(true);
    expect(mayOwnName("mcp_github_api_x", { name: "GitHub API" }, "mcp_server_tool")).toBe(true);
    expect(mayOwnName("gh_search", { name: "github", toolPrefix: "gh" }, "prefix_tool")).toBe(true);
    expect(mayOwnName("github_search", { name: "github", toolPrefix: "gh" }, "prefix_tool")).toBe(
      false,
    );
    expect(mayOwnName("anything", { name: "github" }, (_server, tool) => tool)).toBe(true);
  });

  it("NAM-15: a server may own each of its names, cut and hashed ones too", () => {
    const servers = ["git", "a__b", "日本", "server_".repeat(20)];
    const tools = ["log", "x".repeat(100), "@", "a.b", "a_b"];
    for (const naming of ["mcp__server__tool", "mcp_server_tool", "prefix_tool"] as const)
      for (const server of servers) {
        const names = namesOf(tools.map((tool) => ({ server, tool, naming })));
        for (const name of names)
          expect(mayOwnName(name ?? "", { name: server }, naming)).toBe(true);
      }
  });
});
