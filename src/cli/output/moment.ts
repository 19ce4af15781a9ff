import { createError } from "../../errors/families.ts";

const unitMs: Readonly<Record<string, number>> = {
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
  if (age !== null) return now - Number(age[1]) * (unitMs[age[2] ?? ""] ?? 0);
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
