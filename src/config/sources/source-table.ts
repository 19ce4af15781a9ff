import path from "node:path";

import { baseDirOf } from "../files/config-files.ts";
import type { Folders } from "../variables/variable-reference.ts";

/** How the entries of a file are written; see `entryShapes` for what each means. */
export type EntryShapeName =
  | "plain"
  | "claude-code"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "codex"
  | "gemini"
  | "opencode";

interface ConfigSource {
  /** The name that people know the program by. */
  readonly program: string;
  readonly shape: EntryShapeName;
  /** Files in the folder that the user works in. */
  readonly project: readonly string[];
  /** Files of the user, for all folders. */
  readonly user: (folders: UserFolders) => readonly string[];
  /** Ends of paths by which a file elsewhere is recognised as one of this program. */
  readonly endings: readonly string[];
  /** True when the files hold MCP servers and little else, so that their being there says something. */
  readonly isDedicated: boolean;
}

/** The folders in which programs keep the settings of a user. */
interface UserFolders {
  readonly home: string;
  /** The usual folder of the platform. */
  readonly settings: string;
  /** `~/.config` on every platform, for programs that keep to it everywhere. */
  readonly xdgConfig: string;
  readonly env: Environment;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Programs whose MCP servers can be imported, by the word that names each on the command line. */
const table = {
  "claude-desktop": {
    program: "Claude Desktop",
    shape: "plain",
    project: [],
    user: ({ settings }) => [path.join(settings, "Claude", "claude_desktop_config.json")],
    endings: ["/claude_desktop_config.json"],
    isDedicated: true,
  },
  "claude-code": {
    program: "Claude Code",
    shape: "claude-code",
    project: [".mcp.json"],
    user: ({ home, env }) => [path.join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")],
    endings: ["/.claude.json", "/.mcp.json"],
    isDedicated: false,
  },
  cursor: {
    program: "Cursor",
    shape: "cursor",
    project: [".cursor/mcp.json"],
    user: ({ home }) => [path.join(home, ".cursor", "mcp.json")],
    endings: ["/.cursor/mcp.json"],
    isDedicated: true,
  },
  vscode: {
    program: "VS Code",
    shape: "vscode",
    project: [".vscode/mcp.json"],
    user: ({ settings }) =>
      ["Code", "Code - Insiders"].map((edition) =>
        path.join(settings, edition, "User", "mcp.json"),
      ),
    endings: ["/.vscode/mcp.json", "/Code/User/mcp.json", "/Code - Insiders/User/mcp.json"],
    isDedicated: true,
  },
  codex: {
    program: "Codex",
    shape: "codex",
    project: [".codex/config.toml"],
    user: ({ home, env }) => [
      path.join(env["CODEX_HOME"] || path.join(home, ".codex"), "config.toml"),
    ],
    endings: [".toml"],
    isDedicated: false,
  },
  windsurf: {
    program: "Windsurf",
    shape: "windsurf",
    project: [],
    user: ({ home }) => [path.join(home, ".codeium", "windsurf", "mcp_config.json")],
    endings: ["/mcp_config.json"],
    isDedicated: true,
  },
  gemini: {
    program: "Gemini CLI",
    shape: "gemini",
    project: [".gemini/settings.json"],
    user: ({ home }) => [path.join(home, ".gemini", "settings.json")],
    endings: ["/.gemini/settings.json"],
    isDedicated: false,
  },
  opencode: {
    program: "OpenCode",
    shape: "opencode",
    project: ["opencode.json", "opencode.jsonc"],
    user: ({ xdgConfig }) =>
      ["opencode.json", "opencode.jsonc"].map((name) => path.join(xdgConfig, "opencode", name)),
    endings: ["/opencode.json", "/opencode.jsonc"],
    isDedicated: false,
  },
  nexus3: {
    program: "NEXUS3",
    shape: "plain",
    project: [".nexus3/mcp.json"],
    user: ({ home }) => [path.join(home, ".nexus3", "mcp.json")],
    endings: ["/.nexus3/mcp.json"],
    isDedicated: false,
  },
  kuse: {
    program: "Kuse Cowork",
    shape: "plain",
    project: [],
    user: ({ home, env }) => [
      path.join(env["KUSE_DATA_DIR"] || path.join(home, ".kuse-cowork"), "settings.db"),
    ],
    endings: [],
    isDedicated: false,
  },
} as const satisfies Readonly<Record<string, ConfigSource>>;

export type SourceName = keyof typeof table;

export const sourceNames = Object.keys(table) as readonly SourceName[];
const sources: Readonly<Record<SourceName, ConfigSource>> = table;

/** A file that may hold servers of another program. */
export interface SourceFile {
  readonly path: string;
  /** Undefined for a file that no known program keeps there. */
  readonly source: SourceName | undefined;
  /** The name that people know the program by. */
  readonly program: string | undefined;
  /** Undefined when only the content can tell. */
  readonly shape: EntryShapeName | undefined;
  /** `project`: the file belongs to the folder, so whoever wrote the folder may have written it. */
  readonly scope: "user" | "project";
  /** The folder from which its program resolves relative paths. */
  readonly base: string;
  readonly isDedicated: boolean;
}

/** Says where programs look: the folders, and what of the process their paths depend on. */
export interface SourceGround extends Folders {
  readonly platform: NodeJS.Platform;
  readonly env: Environment;
}

/** Lists the files in which a program may keep its servers, there or not; those of the folder come first. */
export function sourceFiles(name: SourceName, ground: SourceGround): readonly SourceFile[] {
  const { project, user } = sources[name];
  const { workspaceFolder } = ground;
  const own = user(userFolders(ground));
  // In the user's home a file of the folder may be the user's own.
  const ofFolder = project
    .map((file) => path.join(workspaceFolder, file))
    .filter((file) => !own.includes(file));
  // These programs start servers in the folder that they are opened in.
  const common = { ...describe(name), base: workspaceFolder };
  return [
    ...ofFolder.map((file) => ({ ...common, scope: "project" as const, path: file })),
    ...own.map((file) => ({ ...common, scope: "user" as const, path: file })),
  ];
}

/** Lists the files of all programs, there or not; those of the folder come first. */
export function allSourceFiles(ground: SourceGround): readonly SourceFile[] {
  const files = sourceNames.flatMap((name) => sourceFiles(name, ground));
  return ["project", "user"].flatMap((scope) => files.filter((file) => file.scope === scope));
}

/** Describes a file that somebody names: the file of a program, one that looks like it, or any other. */
export function sourceFileAt(file: string, ground: SourceGround): SourceFile {
  const known = sourceNames
    .flatMap((name) => sourceFiles(name, ground))
    .find((candidate) => candidate.path === file);
  if (known !== undefined) return known;
  const slashed = `/${file.replaceAll("\\", "/")}`;
  const name = sourceNames.find((candidate) =>
    sources[candidate].endings.some((ending) => slashed.endsWith(ending)),
  );
  return {
    ...describe(name),
    path: file,
    scope: "user",
    base: baseDirOf(file),
  };
}

function describe(
  name: SourceName | undefined,
): Pick<SourceFile, "source" | "program" | "shape" | "isDedicated"> {
  if (name === undefined)
    return { source: undefined, program: undefined, shape: undefined, isDedicated: false };
  const { program, shape, isDedicated } = sources[name];
  return { source: name, program, shape, isDedicated };
}

function userFolders({ home, platform, env }: SourceGround): UserFolders {
  const xdgConfig = env["XDG_CONFIG_HOME"] || path.join(home, ".config");
  const settings =
    platform === "darwin"
      ? path.join(home, "Library", "Application Support")
      : platform === "win32"
        ? env["APPDATA"] || path.join(home, "AppData", "Roaming")
        : xdgConfig;
  return { home, settings, xdgConfig, env };
}
