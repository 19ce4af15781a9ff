import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";

/** @param {string} file relative to `bench/` */
const readManifest = (file) =>
  JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));

/** What was measured: Node, Plugboard and everything the manifests of `bench/` name, as installed. */
export function readVersions() {
  return {
    node: process.version,
    plugboard: readManifest("../package.json").version,
    ...installedVersions(""),
    ...installedVersions("newer-node/"),
  };
}

/** @param {string} folder of `bench/`, with a manifest; a Node for another machine is not installed */
function installedVersions(folder) {
  const { dependencies, optionalDependencies } = readManifest(`${folder}package.json`);
  const installed = Object.keys({ ...dependencies, ...optionalDependencies })
    .map((name) => ({ name, file: `${folder}node_modules/${name}/package.json` }))
    .filter(({ file }) => existsSync(new URL(`../${file}`, import.meta.url)));
  return Object.fromEntries(installed.map(({ name, file }) => [name, readManifest(file).version]));
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
