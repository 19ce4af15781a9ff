import { describe, expect, it } from "vitest";

import { assignPublicNames, type NameEntry } from "../src/catalog/public-names.ts";
import { buildMcpSkillName, makeToolName, namingStrategy } from "../src/catalog/tool-names.ts";
import { createHost } from "../src/index.ts";

/**
 * Public names stand in the policies, grants and prompts of users. A change of any literal in this file
 * breaks those, so it needs a decision and a line in the changelog, not a new literal alone.
 */
interface GoldenName {
  readonly server: string;
  readonly tool: string;
  readonly mcp__server__tool: string;
  readonly mcp_server_tool: string;
  /** The same with `keepHyphens`. */
  readonly hyphens: string;
  readonly prefix_tool: string;
}

const golden: readonly GoldenName[] = [
  {
    server: "github",
    tool: "create_issue",
    mcp__server__tool: "mcp__github__create_issue",
    mcp_server_tool: "mcp_github_create_issue",
    hyphens: "mcp_github_create_issue",
    prefix_tool: "github_create_issue",
  },
  {
    server: "filesystem",
    tool: "read_file",
    mcp__server__tool: "mcp__filesystem__read_file",
    mcp_server_tool: "mcp_filesystem_read_file",
    hyphens: "mcp_filesystem_read_file",
    prefix_tool: "filesystem_read_file",
  },
  {
    server: "GitHub API",
    tool: "list-repos",
    mcp__server__tool: "mcp__GitHub-API__list-repos",
    mcp_server_tool: "mcp_github_api_list_repos",
    hyphens: "mcp_github_api_list-repos",
    prefix_tool: "github-api_list-repos",
  },
  {
    server: "evil/../path",
    tool: "../../etc",
    mcp__server__tool: "mcp__evil-path__etc",
    mcp_server_tool: "mcp_evil_path_etc",
    hyphens: "mcp_evil_path_etc",
    prefix_tool: "evil-path_etc",
  },
  {
    server: "a__b",
    tool: "c",
    mcp__server__tool: "mcp__a_-5fb__c",
    mcp_server_tool: "mcp_a_b_c",
    hyphens: "mcp_a_b_c",
    prefix_tool: "a__b_c",
  },
  {
    server: "a_",
    tool: "b",
    mcp__server__tool: "mcp__a-5f__b",
    mcp_server_tool: "mcp_a_b",
    hyphens: "mcp_a_b",
    prefix_tool: "a__b",
  },
  {
    server: "a-5fb",
    tool: "c",
    mcp__server__tool: "mcp__a-2d5fb__c",
    mcp_server_tool: "mcp_a_5fb_c",
    hyphens: "mcp_a-5fb_c",
    prefix_tool: "a-5fb_c",
  },
  {
    server: "_",
    tool: "_",
    mcp__server__tool: "mcp__-5f___",
    mcp_server_tool: "mcp_server_35252889_tool_5d2eb09d",
    hyphens: "mcp_server_35252889_tool_5d2eb09d",
    prefix_tool: "___",
  },
  {
    server: "Search",
    tool: "Web.Query/v2",
    mcp__server__tool: "mcp__Search__Web_Query_v2",
    mcp_server_tool: "mcp_search_web_query_v2",
    hyphens: "mcp_search_web_query_v2",
    prefix_tool: "search_web_query_v2",
  },
  {
    server: "ｇｉｔ",
    tool: "ﬁnd",
    mcp__server__tool: "mcp__git__find",
    mcp_server_tool: "mcp_git_find",
    hyphens: "mcp_git_find",
    prefix_tool: "git_find",
  },
  {
    server: "1password",
    tool: "2fa",
    mcp__server__tool: "mcp__1password__2fa",
    mcp_server_tool: "mcp_1password_2fa",
    hyphens: "mcp__1password__2fa",
    prefix_tool: "1password_2fa",
  },
  {
    server: "データベース",
    tool: "検索",
    mcp__server__tool: "mcp__server_8520626f__tool_10150757",
    mcp_server_tool: "mcp_server_8520626f_tool_10150757",
    hyphens: "mcp_server_8520626f_tool_10150757",
    prefix_tool: "server_8520626f_tool_10150757",
  },
  {
    server: "@#$",
    tool: "!",
    mcp__server__tool: "mcp__server_b59c0032__tool_872ca6a8",
    mcp_server_tool: "mcp_server_b59c0032_tool_872ca6a8",
    hyphens: "mcp_server_b59c0032_tool_872ca6a8",
    prefix_tool: "server_b59c0032_tool_872ca6a8",
  },
  {
    server: "git",
    tool: "раураl",
    mcp__server__tool: "mcp__git__l",
    mcp_server_tool: "mcp_git_l",
    hyphens: "mcp_git_l",
    prefix_tool: "git_l",
  },
  {
    server: "github",
    tool: "a_tool_whose_name_is_so_long_that_no_provider_would_ever_accept_it",
    mcp__server__tool: "mcp__github__a_tool_whose_name_is_so_long_that_no_provi_24b59647",
    mcp_server_tool: "mcp_github_a_tool_whose_name_is_so_long_that_no_provide_24b59647",
    hyphens: "mcp_github_a_tool_whose_name_is_so_long_that_no_provide_24b59647",
    prefix_tool: "github_a_tool_whose_name_is_so_long_that_no_provider_wo_24b59647",
  },
  {
    server: "github",
    tool: "a_tool_whose_name_is_so_long_that_no_provider_would_ever_accept_it!",
    mcp__server__tool: "mcp__github__a_tool_whose_name_is_so_long_that_no_provi_d1437f42",
    mcp_server_tool: "mcp_github_a_tool_whose_name_is_so_long_that_no_provide_d1437f42",
    hyphens: "mcp_github_a_tool_whose_name_is_so_long_that_no_provide_d1437f42",
    prefix_tool: "github_a_tool_whose_name_is_so_long_that_no_provider_wo_d1437f42",
  },
  {
    server: "io.github.modelcontextprotocol/server-everything-with-a-long-name",
    tool: "echo",
    mcp__server__tool: "mcp__io-github-modelcontextprotocol-h637bdb8c__echo",
    mcp_server_tool: "mcp_io_github_modelcontextprotocol__637bdb8c_echo",
    hyphens: "mcp_io_github_modelcontextprotocol__637bdb8c_echo",
    prefix_tool: "io-github-modelcontextprotocol-_637bdb8c_echo",
  },
  {
    server: "a-server-name-that-is-exactly-forty-chars",
    tool: "read",
    mcp__server__tool: "mcp__a-server-name-that-is-exactly-hb5377852__read",
    mcp_server_tool: "mcp_a_server_name_that_is_exactly_f_b5377852_read",
    hyphens: "mcp_a-server-name-that-is-exactly-f_b5377852_read",
    prefix_tool: "a-server-name-that-is-exactly-f_b5377852_read",
  },
  {
    server: "a-server-name-that-leaves-little-room-at-all",
    tool: "a_tool_whose_name_is_so_long_that_no_provider_would_ever_accept_it",
    mcp__server__tool: "mcp__a-server-name-that-leaves-litt-h46742ea9__a_tool_w_b631d719",
    mcp_server_tool: "mcp_a_server_name_that_leaves_littl_46742ea9_a_tool_who_b631d719",
    hyphens: "mcp_a-server-name-that-leaves-littl_46742ea9_a_tool_who_b631d719",
    prefix_tool: "a-server-name-that-leaves-littl_46742ea9_a_tool_whose_n_b631d719",
  },
];

describe("golden public names", () => {
  it.each(golden)("NAM-12: $server and $tool", (name) => {
    const { server, tool } = name;
    expect({
      server,
      tool,
      mcp__server__tool: makeToolName(server, tool),
      mcp_server_tool: buildMcpSkillName(server, tool),
      hyphens: buildMcpSkillName(server, tool, { keepHyphens: true }),
      prefix_tool: namingStrategy("prefix_tool").build(server, tool),
    }).toEqual(name);
  });

  const single = { naming: "mcp_server_tool" } as const;
  const db = { naming: "prefix_tool", prefix: "db" } as const;
  const same = { naming: () => "q" };
  it.each<[string, readonly NameEntry[], readonly (string | undefined)[]]>([
    [
      "servers that read the same",
      [
        { server: "git hub", tool: "x" },
        { server: "git.hub", tool: "x" },
        { server: "git", tool: "x" },
      ],
      ["mcp__git-hub__x_a26ccdf8", "mcp__git-hub__x_72a36107", "mcp__git__x"],
    ],
    [
      "tools that read the same",
      [
        { server: "s", tool: "a.b" },
        { server: "s", tool: "a b" },
        { server: "s", tool: "a_b" },
      ],
      ["mcp__s__a_b_05b86806", "mcp__s__a_b_8a170886", "mcp__s__a_b_32fb459a"],
    ],
    [
      "pairs that read the same",
      [
        { server: "trusted", tool: "evil_cmd", ...single },
        { server: "trusted_evil", tool: "cmd", ...single },
        { server: "other", tool: "cmd", ...single },
      ],
      ["mcp_trusted_evil_cmd_4b2e9ac5", "mcp_trusted_evil_cmd_b94e393a", "mcp_other_cmd"],
    ],
    [
      "servers with one prefix",
      [
        { server: "a", tool: "query", ...db },
        { server: "b", tool: "query", ...db },
      ],
      ["db_query_954802ae", "db_query_816f195a"],
    ],
    [
      "a name that equals the hashed one of another",
      [
        { server: "a", tool: "query", ...same },
        { server: "b", tool: "query", ...same },
        { server: "c", tool: "query", naming: () => "q_954802ae" },
      ],
      ["q_954802aec195cd61", "q_816f195a", "q_954802ae_5212dd40"],
    ],
    [
      "a tool that is listed twice",
      [
        { server: "s", tool: "a" },
        { server: "s", tool: "a" },
      ],
      ["mcp__s__a", undefined],
    ],
  ])("NAM-13: in a clash of %s", (_what, entries, expected) => {
    expect(assignPublicNames(entries).names).toEqual(expected);
  });

  it("NAM-13: beside a native tool", () => {
    const entries = [{ server: "s", tool: "x", naming: () => "note" }];
    expect(assignPublicNames(entries, { reserved: ["note"] }).names).toEqual(["note_051a6236"]);
  });

  it.each([
    [undefined, ["mcp__GitHub-API__list-repos", "mcp__files__read_file"]],
    ["mcp__server__tool", ["mcp__GitHub-API__list-repos", "mcp__files__read_file"]],
    ["mcp_server_tool", ["mcp_github_api_list_repos", "mcp_files_read_file"]],
    ["prefix_tool", ["github-api_list-repos", "files_read_file"]],
  ] as const)("NAM-01, NAM-04, NAM-10: of a host whose naming is %s", async (naming, expected) => {
    await using host = await createHost({ config: false, naming });
    const inputSchema = { type: "object" };
    host.registerTools("GitHub API", [{ name: "list-repos", inputSchema }]);
    host.registerTools("files", [{ name: "read_file", inputSchema }]);
    expect(
      host
        .session({ level: "yolo" })
        .tools()
        .map(({ name }) => name),
    ).toEqual(expected);
  });
});
