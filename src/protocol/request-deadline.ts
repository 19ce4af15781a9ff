import type { Limits } from "../config/limits.ts";
import type { RpcRequest } from "./rpc-request.ts";

export interface Expiry {
  readonly limitMs: number;
  /** The time for the whole request is over, not the time for the next sign of life. */
  readonly isTotal: boolean;
}

/** When `request` is over if nothing is heard of it from `now` on; infinity when it has no deadline. */
export function deadlineAfter(request: RpcRequest, now: number, limits: Limits): number {
  const silenceMs = silenceOf(request, limits);
  if (silenceMs === 0) return Number.POSITIVE_INFINITY;
  return Math.min(now + silenceMs, request.sentAt + totalOf(silenceMs, limits));
}

/** Which of its limits a request that is over has met. */
export function expiryOf(request: RpcRequest, limits: Limits): Expiry {
  const silenceMs = silenceOf(request, limits);
  const totalMs = totalOf(silenceMs, limits);
  const isTotal = totalMs > silenceMs && request.deadlineAt === request.sentAt + totalMs;
  return { limitMs: isTotal ? totalMs : silenceMs, isTotal };
}

/** Longest silence, `0` when any is allowed. */
function silenceOf({ options }: RpcRequest, limits: Limits): number {
  const timeoutMs = options.timeoutMs ?? limits.callTimeoutMs;
  return timeoutMs > 0 && Number.isFinite(timeoutMs) ? timeoutMs : 0;
}

/** Longest time with progress; a longer silence was asked for explicitly and stands. */
function totalOf(silenceMs: number, limits: Limits): number {
  return Math.max(silenceMs, limits.totalCallTimeoutMs);
}
