import { isJsonObject } from "../../text/json-object.ts";

/** What a column of JSON text holds; undefined when it is not JSON, which only damage or another program can cause. */
export function parseJsonColumn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function parseObjectColumn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJsonColumn(text);
  return isJsonObject(value) ? value : undefined;
}
