const quote = 0x22;
const backslash = 0x5c;
/** `[` and `{`, likewise `]` and `}`, differ in this one bit. */
const bracketBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * Whether `json` nests arrays and objects deeper than `maxDepth`, found in one linear pass before
 * anything is built: code that walks a value recursively must never see one that is too deep. Text
 * that is no JSON may get either answer.
 */
export function exceedsJsonDepth(json: string, maxDepth: number): boolean {
  // Every level takes an opening and a closing bracket.
  if (json.length < 2 * (maxDepth + 1) || !hasMoreBrackets(json, maxDepth)) return false;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (isInString) {
      if (code === quote) isInString = false;
      else if (code === backslash) index += 1;
    } else if (code === quote) {
      isInString = true;
    } else if ((code | bracketBit) === opening) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if ((code | bracketBit) === closing) {
      depth -= 1;
    }
  }
  return false;
}

/** Few brackets settle it at the speed of a memory search, which is a hundred times that of the pass. */
function hasMoreBrackets(json: string, count: number): boolean {
  let seen = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      seen += 1;
      if (seen > count) return true;
    }
  }
  return false;
}
