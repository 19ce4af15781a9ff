/** Sixteen digits in a row or a large exponent: no number without one of them can be inexact. */
const suspicious = /[\d.]{16}|\d[eE][+-]?\d{3}/;
const numberAt = /-?\d[\d.eE+-]*/y;

/** Any decimal of this many digits survives the way through a double. */
const safeDigits = 15;
/** A double prints with at most so many digits; a fraction of more digits was never a double. */
const fractionDigits = 17;

const quote = 0x22;
const backslash = 0x5c;
const zero = 0x30;

/**
 * The first number of valid JSON that would be another one if it were read and written again: an
 * integer of too many digits, one beyond the range of a double, a fraction of more digits than a
 * double has. Undefined when there is none, which is found out at the speed of a search.
 */
export function findInexactNumber(json: string): string | undefined {
  if (!suspicious.test(json)) return undefined;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = endOfString(json, index);
    } else if (isDigit(code) || code === 0x2d) {
      numberAt.lastIndex = index;
      const token = numberAt.exec(json)?.[0] ?? "";
      if (!isExact(token)) return token;
      index += Math.max(token.length - 1, 0);
    }
  }
  return undefined;
}

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return json.length;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isExact(token: string): boolean {
  const { significant, power } = readDecimal(token);
  if (significant === "") return true;
  const value = Number(token);
  if (value === 0 || !Number.isFinite(value)) return false;
  if (significant.length <= safeDigits) return true;
  if (power < 0) return significant.length <= fractionDigits;
  const written = readDecimal(String(value));
  return written.significant === significant && written.power === power;
}

/**
 * The digits that count, without sign, and the power of ten they are multiplied with. Taken apart by hand: on
 * millions of digits a pattern may run out of stack, or take quadratic time.
 */
function readDecimal(token: string): { readonly significant: string; readonly power: number } {
  const exponentAt = token.search(/[eE]/);
  const mantissa = exponentAt === -1 ? token : token.slice(0, exponentAt);
  const exponent = exponentAt === -1 ? 0 : Number(token.slice(exponentAt + 1));
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = `${whole.startsWith("-") ? whole.slice(1) : whole}${fraction}`;
  let start = 0;
  while (digits.charCodeAt(start) === zero) start += 1;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === zero) end -= 1;
  const power = exponent - fraction.length + (digits.length - end);
  return { significant: digits.slice(start, end), power };
}
