import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { Progress } from "../protocol-client.ts";
import { isRequestId, type RequestId } from "../wire/json-rpc.ts";

/** `params` that ask for progress reports under `token`. */
export function withProgressToken(params: JsonObject, token: RequestId): JsonObject {
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  return { ...params, _meta: { ...meta, progressToken: token } };
}

/** A progress notification whose token and numbers are what they must be; undefined for any other. */
export function readProgress(
  params: JsonObject | undefined,
): { readonly token: RequestId; readonly report: Progress } | undefined {
  const { progressToken: token, progress, total, message } = params ?? {};
  if (!isRequestId(token)) return undefined;
  if (typeof progress !== "number" || !Number.isFinite(progress)) return undefined;
  return {
    token,
    report: {
      progress,
      ...(typeof total === "number" && Number.isFinite(total) ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    },
  };
}
