import type { ServerConfig } from "../keys/server-config.ts";
import { mapTemplates } from "./map-templates.ts";
import { parseTemplate } from "./variable-reference.ts";

/** A variable whose value a server would be given, and the field of the entry that it would be part of. */
export interface VariableUse {
  readonly variable: string;
  readonly field: string;
}

/** Each use once, for the question whether the server may start. Looks at no value. */
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

/** The ids of all that a person has to be asked for before the server can start. */
export function inputIds(config: Pick<ServerConfig, "transport" | "auth">): ReadonlySet<string> {
  const ids = new Set<string>();
  mapTemplates(config, (template) => {
    for (const part of parseTemplate(template)) if (part.type === "input") ids.add(part.id);
    return template;
  });
  return ids;
}

/** Whether a server is another one in another folder, and not only because it starts there. */
export function usesWorkspace(config: ServerConfig): boolean {
  let isUsed = false;
  const look = (text: string, field: string): string => {
    isUsed ||= field !== "cwd" && text.includes("${workspaceFolder");
    return text;
  };
  mapTemplates(config, look, look);
  return isUsed;
}

/** Whether anything in the entry is replaced that is no variable of the environment. */
export function hasOtherReferences(config: ServerConfig): boolean {
  let isFound = "envFile" in config.transport;
  const look = (text: string): string => {
    isFound ||= parseTemplate(text).some(({ type }) => type === "input" || type === "folder");
    return text;
  };
  mapTemplates(config, look, look);
  return isFound;
}
