import type { ServerConfig } from "../keys/server-config.ts";
import { mapTemplates } from "./map-templates.ts";
import { parseTemplate } from "./variable-reference.ts";

/** A variable whose value a server would get, and the field of the entry that refers to it. */
export interface VariableUse {
  readonly variable: string;
  readonly field: string;
}

/** Lists each use once, for the question whether the server may start. Reads no value. */
export function variableUses(config: ServerConfig): readonly VariableUse[] {
  const uses = new Map<string, VariableUse>();
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template)) {
      const variable =
        part.type === "variable"
          ? part.name
          : part.type === "input"
            ? `input:${part.id}`
            : undefined;
      if (variable !== undefined) uses.set(`${variable} ${field}`, { variable, field });
    }
    return template;
  });
  return [...uses.values()];
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
        uses.set(`${variable} ${field}`, { variable, field });
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

/** Whether the entry has references that are no variables of the environment. */
export function hasOtherReferences(config: ServerConfig): boolean {
  let isFound = "envFile" in config.transport;
  const look = (text: string): string => {
    isFound ||= parseTemplate(text).some(({ type }) => type === "input" || type === "folder");
    return text;
  };
  mapTemplates(config, look, look);
  return isFound;
}
