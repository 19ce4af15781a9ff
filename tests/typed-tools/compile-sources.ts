import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** Options that people compile with; a generated module has to pass all of them. */
const compilerOptions = {
  target: "es2023",
  lib: ["es2023", "es2024.string", "esnext.disposable"],
  types: ["node"],
  typeRoots: [path.join(root, "node_modules/@types")],
  module: "nodenext",
  moduleResolution: "nodenext",
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  isolatedModules: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  resolveJsonModule: true,
  paths: { plugboard: [path.join(root, "src/index.ts")] },
};

/** What the compiler says about one file. */
export interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Compiles all files in one run. Complaints about anything else than these files do not count. `exact`:
 * a field that may be absent may not be `undefined`.
 */
export async function compileSources(
  files: ReadonlyMap<string, string>,
  { exact }: { readonly exact: boolean },
): Promise<readonly Complaint[]> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "types-")));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, exactOptionalPropertyTypes: exact },
      include: ["sources"],
    }),
  );
  mkdirSync(path.join(folder, "sources"));
  for (const [name, text] of files) writeFileSync(path.join(folder, "sources", name), text);
  const output = await runCompiler(folder);
  const complaints = [...output.matchAll(/^sources\/(.+?)\((\d+),\d+\): error (.*)$/gm)];
  return complaints.map(([, file = "", line, text = ""]) => ({ file, line: Number(line), text }));
}

function runCompiler(cwd: string): Promise<string> {
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [compiler, "-p", ".", "--pretty", "false"],
      { cwd, maxBuffer: 64 * 1_024 * 1_024 },
      (error, stdout, stderr) => {
        const { code } = (error ?? { code: 0 }) as { code?: unknown };
        // 1 and 2 only say that there are complaints.
        if (typeof code === "number" && code <= 2) resolve(stdout);
        else reject(new Error(`the compiler failed: ${stderr}`, { cause: error }));
      },
    );
  });
}
