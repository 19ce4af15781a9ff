/** Aborted with the first of both. Only for signals that live as short as a call: sources remember what is joined. */
export function joinSignals(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}
