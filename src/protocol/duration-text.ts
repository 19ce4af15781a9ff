/** `30 s`, `1.5 s`, `250 ms`: a limit as an error message names it. */
export function durationText(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${milliseconds / 1_000} s`;
}
