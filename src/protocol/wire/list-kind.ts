import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** The lists of a server that may change while it runs. */
export type ListKind = "tools" | "prompts" | "resources";

const kinds: readonly ListKind[] = ["tools", "prompts", "resources"];

const kindOfMethod: ReadonlyMap<string, ListKind> = new Map(
  kinds.map((kind) => [`notifications/${kind}/list_changed`, kind]),
);

/** The list whose change a notification reports; undefined for any other notification. */
export function changedList(method: string): ListKind | undefined {
  return kindOfMethod.get(method);
}

/** The lists whose changes the server promised to report. */
export function reportedLists(capabilities: JsonObject): readonly ListKind[] {
  return kinds.filter((kind) => {
    const declared = Object.hasOwn(capabilities, kind) ? capabilities[kind] : undefined;
    return isJsonObject(declared) && declared["listChanged"] === true;
  });
}
