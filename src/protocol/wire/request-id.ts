export type RequestId = string | number;

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}
