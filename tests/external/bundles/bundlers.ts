import path from "node:path";

import commonjs from "@rollup/plugin-commonjs";
import json from "@rollup/plugin-json";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import { build as viteBuild } from "vite";
import webpack from "webpack";

import { root, run } from "../package/packed-package.ts";

export interface Bundler {
  readonly name: string;
  /** The file to run, in `out`. */
  readonly file: string;
  readonly bundle: (program: string, out: string) => Promise<void>;
}

export const bunBinary = path.join(root, "tests/external/node_modules/@oven/bun-linux-x64/bin/bun");

/** Each as its documentation says for a program of Node, with every package inside. */
export const bundlers: readonly Bundler[] = [
  {
    name: "esbuild, CommonJS",
    file: "out.cjs",
    bundle: (program, out) => bundleWithEsbuild(program, path.join(out, "out.cjs"), "cjs"),
  },
  {
    name: "esbuild, ES modules",
    file: "out.mjs",
    bundle: (program, out) => bundleWithEsbuild(program, path.join(out, "out.mjs"), "esm"),
  },
  { name: "Rollup", file: "bundled-program.mjs", bundle: bundleWithRollup },
  { name: "Vite SSR", file: "bundled-program.mjs", bundle: bundleWithVite },
  { name: "webpack", file: "out.cjs", bundle: bundleWithWebpack },
  { name: "Bun", file: "bundled-program.js", bundle: bundleWithBun },
];

async function bundleWithEsbuild(
  program: string,
  outfile: string,
  format: esbuild.Format,
): Promise<void> {
  await esbuild.build({
    entryPoints: [program],
    bundle: true,
    platform: "node",
    format,
    outfile,
    logLevel: "silent",
  });
}

async function bundleWithRollup(program: string, out: string): Promise<void> {
  const bundle = await rollup({
    input: program,
    plugins: [
      nodeResolve({ preferBuiltins: true, exportConditions: ["node"] }),
      commonjs(),
      json(),
    ],
    onwarn: () => {},
  });
  await bundle.write({ dir: out, format: "es", entryFileNames: "[name].mjs" });
  await bundle.close();
}

async function bundleWithVite(program: string, out: string): Promise<void> {
  await viteBuild({
    root: path.dirname(program),
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: program,
      outDir: out,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: "[name].mjs" } },
    },
    ssr: { noExternal: true },
  });
}

async function bundleWithWebpack(program: string, out: string): Promise<void> {
  const compiler = webpack({
    mode: "production",
    target: "node20",
    entry: program,
    output: { path: out, filename: "out.cjs" },
    optimization: { minimize: false },
  });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      compiler.close(() => {
        if (error !== null) reject(error);
        else if (stats?.hasErrors() === true) reject(new Error(stats.toString("errors-only")));
        else resolve();
      });
    });
  });
}

async function bundleWithBun(program: string, out: string): Promise<void> {
  await run(bunBinary, ["build", "--target=node", `--outdir=${out}`, program], {
    cwd: path.dirname(program),
  });
}
