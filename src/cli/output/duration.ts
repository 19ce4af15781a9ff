import { createError } from "../../errors/families.ts";
import { longestTimerMs } from "../../ports/clock.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `60s`, `2m`; a bare number is seconds, as in configuration files. `0` means no limit. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim());
  const milliseconds = Number(match?.[1]) * (unitMs[match?.[2] ?? "s"] ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds <= longestTimerMs)
    return Math.round(milliseconds);
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no duration`, {
    hint: "write it as 500ms, 60s or 2m",
  });
}

/** Writes a measured time for people: `12 ms`, `0.4 s`, `1 min 5 s`. */
export function formatElapsed(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Writes how long ago something was, in the largest unit that fits: `4 s`, `12 min`, `3 h`, `5 d`. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Writes a limit as it is typed: `60s`, `1500ms`. The rest of a limit, which nobody typed, is rounded. */
export function formatDuration(milliseconds: number): string {
  const rounded = roundLimit(milliseconds);
  return rounded % 1_000 === 0 ? `${rounded / 1_000}s` : `${rounded}ms`;
}

/** Rounds to a tenth of a second, below a second to a millisecond: 29.98 s left of 30 s are shown as 30 s. */
export function roundLimit(milliseconds: number): number {
  return milliseconds < 1_000 ? Math.round(milliseconds) : Math.round(milliseconds / 100) * 100;
}

const ageUnitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
/** A date with or without a time; without a zone it is the time of this machine. */
const dateForm =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Reads a moment, in milliseconds since the epoch: `10m`, `2h` or `3d` ago, or a date. */
export function parseMoment(text: string, now = Date.now()): number {
  const age = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(text.trim());
  if (age !== null) return now - Number(age[1]) * (ageUnitMs[age[2] ?? ""] ?? 0);
  const [, date, time = "00:00", zone = ""] = dateForm.exec(text.trim()) ?? [];
  const at = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${zone}`);
  if (!Number.isNaN(at)) return at;
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no time`, {
    hint: "write it as 10m, 2h or 3d ago, or as 2026-11-16 or 2026-11-16T09:30",
  });
}

/** Writes a moment for people, in the time of this machine: `2026-11-16 09:30:05`. */
export function formatMoment(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "?";
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${day} ${time}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
