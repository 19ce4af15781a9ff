/** `30 s`, `1.5 s`, `250 ms`: a time as an error message names it, without false precision. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${Math.round(milliseconds / 100) / 10} s`;
}
