import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** `params` with further members in `_meta`; members that are there already win. */
export function withMeta(params: JsonObject, meta: JsonObject): JsonObject {
  const given = params["_meta"];
  return { ...params, _meta: isJsonObject(given) ? { ...meta, ...given } : meta };
}
