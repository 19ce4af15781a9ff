import type { ServerConfig } from "../keys/server-config.ts";
import { mapTemplates } from "./map-templates.ts";
import { parseTemplate, type TemplatePart } from "./variable-reference.ts";

/** A value of the user that a server would get, and the field of the entry that refers to it. */
export interface VariableUse {
  /** The name of a variable of the environment; `input:id` and `secret:name` for the others. */
  readonly variable: string;
  readonly kind: "variable" | "input" | "secret";
  readonly field: string;
}

/** Lists each use once, for the question whether the server may start. Reads no value. */
export function variableUses(config: ServerConfig): readonly VariableUse[] {
  const uses = new Map<string, VariableUse>();
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template)) {
      const use = useOf(part);
      if (use !== undefined) uses.set(`${use.variable} ${field}`, { ...use, field });
    }
    return template;
  });
  return [...uses.values()];
}

function useOf(part: TemplatePart): Omit<VariableUse, "field"> | undefined {
  switch (part.type) {
    case "variable":
      return { variable: part.name, kind: "variable" };
    case "input":
      return { variable: `input:${part.id}`, kind: "input" };
    case "secret":
      return { variable: `secret:${part.name}`, kind: "secret" };
    case "text":
    case "folder":
    case "foreign":
    case "malformed":
      return undefined;
  }
}

/** Lists each use of a variable that has neither a value nor a default: the server would not start. */
export function unsetVariables(
  config: Pick<ServerConfig, "transport" | "auth">,
  environment: Readonly<Record<string, string | undefined>>,
): readonly VariableUse[] {
  const uses = new Map<string, VariableUse>();
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template)) {
      if (part.type !== "variable" || part.fallback !== undefined) continue;
      const variable = part.name;
      if (environment[variable] === undefined)
        uses.set(`${variable} ${field}`, { variable, kind: "variable", field });
    }
    return template;
  });
  return [...uses.values()];
}

/** Lists references that only the program can replace that the entry was written for. */
export function foreignReferences(
  config: Pick<ServerConfig, "transport" | "auth">,
): readonly { readonly kind: string; readonly field: string }[] {
  const found: { readonly kind: string; readonly field: string }[] = [];
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template))
      if (part.type === "foreign") found.push({ kind: part.kind, field });
    return template;
  });
  return found;
}

/** Lists the ids of the inputs that a person is asked for before the server can start. */
export function inputIds(config: Pick<ServerConfig, "transport" | "auth">): ReadonlySet<string> {
  const ids = new Set<string>();
  mapTemplates(config, (template) => {
    for (const part of parseTemplate(template)) if (part.type === "input") ids.add(part.id);
    return template;
  });
  return ids;
}

/** Lists the names of the secrets that the entry refers to, each with a field that does. */
export function secretUses(
  config: Pick<ServerConfig, "transport" | "auth">,
): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template))
      if (part.type === "secret" && !uses.has(part.name)) uses.set(part.name, field);
    return template;
  });
  return uses;
}

/** Whether more than the start folder of a server depends on the workspace folder. */
export function usesWorkspace(config: ServerConfig): boolean {
  let isUsed = false;
  const look = (text: string, field: string): string => {
    isUsed ||= field !== "cwd" && text.includes("${workspaceFolder");
    return text;
  };
  mapTemplates(config, look, look);
  return isUsed;
}

/** Types of references that a host finds the values of when a server starts. */
const filled: ReadonlySet<TemplatePart["type"]> = new Set(["input", "secret", "folder"]);

/** Whether the entry has references that are no variables of the environment. */
export function hasOtherReferences(config: ServerConfig): boolean {
  let isFound = "envFile" in config.transport;
  const look = (text: string): string => {
    isFound ||= parseTemplate(text).some(({ type }) => filled.has(type));
    return text;
  };
  mapTemplates(config, look, look);
  return isFound;
}
