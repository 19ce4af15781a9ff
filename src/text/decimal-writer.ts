const tailLength = 1_000;
const tails = Array.from({ length: tailLength }, (_, number) => String(number).padStart(3, "0"));

/**
 * Writes whole numbers that follow one another, as the ids of requests do: all but their last digits
 * are made once in a thousand times. The engine would look each of them up in a cache of numbers, and
 * miss, which on the path of a call is felt.
 */
export function createDecimalWriter(): (number: number) => string {
  let headOf = 0;
  let head = "";
  return (number) => {
    const thousands = Math.floor(number / tailLength);
    if (thousands === 0) return String(number);
    if (thousands !== headOf) {
      headOf = thousands;
      head = String(thousands);
    }
    return head + (tails[number % tailLength] as string);
  };
}
