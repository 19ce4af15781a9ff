import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";

/** @param {string} file relative to `bench/` */
const readManifest = (file) =>
  JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));

/** What was measured: Node, Plugboard and everything the manifest of `bench/` names, as installed. */
export function readVersions() {
  const names = Object.keys(readManifest("package.json").dependencies);
  return {
    node: process.version,
    plugboard: readManifest("../package.json").version,
    ...Object.fromEntries(
      names.map((name) => [name, readManifest(`node_modules/${name}/package.json`).version]),
    ),
  };
}

export function readMachine() {
  return {
    platform: `${process.platform} ${process.arch} ${release()}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg().map((load) => Math.round(load * 100) / 100),
  };
}
