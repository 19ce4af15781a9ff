import { stat } from "node:fs/promises";
import path from "node:path";

import type { Folders } from "../../config/variables/variable-reference.ts";

/** A configuration file of another program that was found, and that no host of ours reads by itself. */
export interface OtherHostFile {
  readonly path: string;
  /** Whose file it is. */
  readonly program: string;
}

/** Finds the files that hold the MCP servers of other programs, in the folder and for its user. Reads none of them. */
export async function findOtherHostFiles(
  folders: Folders,
  { platform, env }: Pick<NodeJS.Process, "platform" | "env"> = process,
): Promise<readonly OtherHostFile[]> {
  const { workspaceFolder, home } = folders;
  const settings = settingsFolder(home, platform, env);
  const candidates: readonly OtherHostFile[] = [
    { program: "VS Code", path: path.join(workspaceFolder, ".vscode", "mcp.json") },
    { program: "Cursor", path: path.join(workspaceFolder, ".cursor", "mcp.json") },
    { program: "VS Code", path: path.join(settings, "Code", "User", "mcp.json") },
    { program: "Cursor", path: path.join(home, ".cursor", "mcp.json") },
    {
      program: "Claude Desktop",
      path: path.join(settings, "Claude", "claude_desktop_config.json"),
    },
    { program: "Windsurf", path: path.join(home, ".codeium", "windsurf", "mcp_config.json") },
  ];
  const found = await Promise.all(
    candidates.map(async (candidate) => ({
      candidate,
      isFile: await stat(candidate.path).then(
        (stats) => stats.isFile(),
        () => false,
      ),
    })),
  );
  const seen = new Set<string>();
  return found.flatMap(({ candidate, isFile }) => {
    if (!isFile || seen.has(candidate.path)) return [];
    seen.add(candidate.path);
    return [candidate];
  });
}

/** Where programs keep their settings. */
function settingsFolder(
  home: string,
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (platform === "darwin") return path.join(home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? path.join(home, "AppData", "Roaming");
  return env["XDG_CONFIG_HOME"] ?? path.join(home, ".config");
}
