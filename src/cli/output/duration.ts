import { createError } from "../../errors/families.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** A timer of Node cannot wait longer. */
const maxDurationMs = 0x7fff_ffff;

/** `500ms`, `60s`, `2m`; a bare number is seconds, as in configuration files. `0` means no limit. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim());
  const milliseconds = Number(match?.[1]) * (unitMs[match?.[2] ?? "s"] ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds <= maxDurationMs)
    return Math.round(milliseconds);
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no duration`, {
    hint: "write it as 500ms, 60s or 2m",
  });
}

/** A time that passed, as people read it: `12 ms`, `0.4 s`, `1 min 5 s`. */
export function formatElapsed(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A limit as it is typed: `60s`, `1500ms`. What was measured and not chosen is rounded. */
export function formatDuration(milliseconds: number): string {
  const rounded = roundLimit(milliseconds);
  return rounded % 1_000 === 0 ? `${rounded / 1_000}s` : `${rounded}ms`;
}

/** To a tenth of a second, or below a second to a millisecond: what is left of a limit of 30 s is 30 s. */
export function roundLimit(milliseconds: number): number {
  return milliseconds < 1_000 ? Math.round(milliseconds) : Math.round(milliseconds / 100) * 100;
}
