/** What a JSON text says, frozen all the way down. */
export function parseFrozen(text: string): unknown {
  return deepFreeze(JSON.parse(text) as unknown);
}

/** A copy that is detached from the caller's object and frozen. Only for what `checkPlainJson` lets through. */
export function frozenCopy<T>(value: T): T {
  return parseFrozen(JSON.stringify(value)) as T;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
