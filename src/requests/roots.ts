import path from "node:path";
import { pathToFileURL } from "node:url";

import { untilAborted } from "../async/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { JsonObject } from "../text/json-object.ts";
import type { Asking } from "./question.ts";

/** A folder: a path, a `file:` address, or either with a name to show. */
export type Root = string | URL | { readonly uri: string | URL; readonly name?: string };

/** The folders servers are told to work in, or a function that says so for each server. */
export type Roots =
  | readonly Root[]
  | ((server: { readonly serverName: string }) => readonly Root[] | Promise<readonly Root[]>);

const maxRoots = 1_000;

/** The answer to `roots/list`. Rejects with `config_invalid` when a root is no folder of this machine. */
export async function answerRoots(
  roots: Roots,
  { serverName, signal }: Asking,
  cwd: string,
): Promise<JsonObject> {
  if (typeof roots !== "function") return { roots: describeRoots(roots, cwd) };
  const list = await untilAborted(Promise.resolve(roots({ serverName })), signal);
  return { roots: describeRoots(list, cwd) };
}

/** Relative paths are taken from `cwd`. */
export function describeRoots(roots: readonly Root[], cwd: string): readonly JsonObject[] {
  if (roots.length > maxRoots)
    throw createError("config_invalid", `there are more than ${maxRoots} roots`);
  return roots.map((root) => {
    const { uri, name } =
      typeof root === "string" || root instanceof URL ? { uri: root, name: undefined } : root;
    const isPath = typeof uri === "string" && !isAddress(uri);
    const url = isPath ? pathToFileURL(path.resolve(cwd, uri)) : parseAddress(uri);
    if (url?.protocol !== "file:")
      throw createError("config_invalid", "a root must be a folder: a path or a file: address");
    const shown = name ?? (isPath ? path.basename(path.resolve(cwd, uri)) : "");
    return shown === "" ? { uri: url.href } : { uri: url.href, name: shown };
  });
}

/** Two letters at least: `C:\` is a path. */
function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(text);
}

function parseAddress(address: string | URL): URL | undefined {
  return URL.canParse(String(address)) ? new URL(address) : undefined;
}
