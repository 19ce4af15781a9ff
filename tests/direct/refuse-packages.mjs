// Preloaded by a process that is to do without packages: `REFUSED_PACKAGES` names them, as if they had not
// been installed. With `*` the built package gets none but those its manifest promises.
import { readFileSync } from "node:fs";
import Module, { register } from "node:module";

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const refused = (process.env["REFUSED_PACKAGES"] ?? "").split(",");
const promised = Object.keys(manifest.dependencies);

const hooks = `
  let given;
  export function initialize(data) { given = data; }
  export async function resolve(specifier, context, next) {
    const name = specifier.match(/^(@[^/]+\\/)?[^./@:][^/:]*(?=$|\\/)/)?.[0];
    const { parentURL = "" } = context;
    const isOfThePackage = parentURL.includes("/dist/") && !parentURL.includes("/node_modules/");
    const isRefused = given.refused.includes("*")
      ? isOfThePackage && name !== undefined && !given.promised.includes(name)
      : given.refused.includes(name);
    if (!isRefused) return next(specifier, context);
    throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;

// What is looked for by name at run time comes through here.
const { _resolveFilename: resolveFilename } = Module;
Module._resolveFilename = (request, ...rest) => {
  // By its name, or by the folder in which it lies.
  const isRefused = refused.some(
    (name) => request === name || request.endsWith(`/node_modules/${name}`),
  );
  if (!isRefused) return resolveFilename(request, ...rest);
  throw Object.assign(new Error(`Cannot find module '${request}'`), { code: "MODULE_NOT_FOUND" });
};

register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { refused, promised } });
