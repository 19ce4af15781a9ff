/** A `pattern` translated to the syntax of RE2, the linear-time engine. */
export interface LinearPattern {
  readonly source: string;
  /** The approximate number of instructions it compiles to, with counted repetitions multiplied out. */
  readonly size: number;
}

const maxPatternLength = 4_096;
const maxPatternSize = 10_000;
const maxGroupDepth = 200;
/** RE2 refuses counts above this, and nested counts whose product is above it. */
const maxRepetition = 1_000;

// ECMAScript and RE2 disagree on `.` and `\s`, so the translation writes their characters out.
const anyButLineEnd = "[^\\n\\r\\x{2028}\\x{2029}]";
const spaces =
  "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const notSpaces =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

const propertyAliases: Readonly<Record<string, string>> = {
  Letter: "L",
  Uppercase_Letter: "Lu",
  Lowercase_Letter: "Ll",
  Mark: "M",
  Number: "N",
  Decimal_Number: "Nd",
  Punctuation: "P",
  Symbol: "S",
  Separator: "Z",
  digit: "Nd",
  punct: "P",
};
const propertyNames: ReadonlySet<string> = new Set(
  "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp".split(
    " ",
  ),
);
const scriptNames: ReadonlySet<string> = new Set(
  "Arabic Armenian Bengali Cyrillic Devanagari Georgian Greek Han Hangul Hebrew Hiragana Katakana Latin Thai".split(
    " ",
  ),
);

/** Signals, inside the translation only, syntax that RE2 has no equivalent of. */
class Unsupported extends Error {}

interface Group {
  size: number;
  /** The product of nested counts, which RE2 limits. */
  repetition: number;
}

class Translation {
  readonly #text: string;
  #at = 0;
  #out = "";
  #groups: Group[] = [{ size: 0, repetition: 1 }];
  /** The atom that a quantifier would apply to; absent after an assertion or another quantifier. */
  #atom: Group | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  run(): LinearPattern {
    while (this.#at < this.#text.length) this.#next();
    const [root] = this.#groups;
    if (this.#groups.length !== 1 || root === undefined) throw new Unsupported();
    if (root.size > maxPatternSize) throw new Unsupported();
    return { source: this.#out, size: root.size };
  }

  #next(): void {
    const char = this.#take();
    switch (char) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#class();
      case "(":
        return this.#open();
      case ")":
        return this.#close();
      case "|":
        this.#out += "|";
        this.#atom = undefined;
        return;
      case "^":
        return this.#assertion("\\A");
      case "$":
        return this.#assertion("\\z");
      case ".":
        return this.#emit(anyButLineEnd);
      case "*":
      case "+":
        return this.#quantify(char, 2, 1);
      case "?":
        return this.#quantify(char, 1, 1);
      case "{":
        return this.#brace();
      default:
        return this.#emit(literal(char));
    }
  }

  #take(): string {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += char.length;
    return char;
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  #matches(expression: RegExp): boolean {
    expression.lastIndex = this.#at;
    return expression.test(this.#text);
  }

  #emit(source: string): void {
    this.#out += source;
    this.#add({ size: 1, repetition: 1 });
  }

  #add(atom: Group): void {
    const group = this.#groups.at(-1);
    if (group === undefined) throw new Unsupported();
    group.size += atom.size;
    group.repetition = Math.max(group.repetition, atom.repetition);
    this.#atom = atom;
  }

  #assertion(source: string): void {
    this.#out += source;
    this.#add({ size: 1, repetition: 1 });
    this.#atom = undefined;
  }

  #open(): void {
    // Captures are dropped: a check asks only whether the text matches.
    const isPlain = this.#text[this.#at] !== "?";
    if (!isPlain && this.#match(/\?(?::|<[\p{ID_Start}$_][\p{ID_Continue}$]*>)/uy) === null)
      throw new Unsupported();
    this.#out += "(?:";
    this.#groups.push({ size: 1, repetition: 1 });
    if (this.#groups.length > maxGroupDepth) throw new Unsupported();
    this.#atom = undefined;
  }

  #close(): void {
    const group = this.#groups.pop();
    if (group === undefined) throw new Unsupported();
    this.#out += ")";
    this.#add(group);
  }

  #brace(): void {
    const match = this.#match(/(\d{1,9})(,(\d{1,9})?)?\}/y);
    if (match === null) return this.#emit("\\{");
    const low = Number(match[1]);
    const high = match[3] === undefined ? low : Number(match[3]);
    if (high < low || Math.max(low, high) > maxRepetition) throw new Unsupported();
    const copies = match[2] !== undefined && match[3] === undefined ? low + 1 : high;
    this.#quantify(`{${match[0]}`, Math.max(1, copies), Math.max(1, high));
  }

  #quantify(source: string, copies: number, repetition: number): void {
    const atom = this.#atom;
    const group = this.#groups.at(-1);
    if (atom === undefined || group === undefined) throw new Unsupported();
    // A lazy quantifier is made greedy: both match the same texts.
    this.#match(/\?/y);
    this.#out += source;
    const product = atom.repetition * repetition;
    if (product > maxRepetition) throw new Unsupported();
    group.size += atom.size * (copies - 1) + 1;
    group.repetition = Math.max(group.repetition, product);
    this.#atom = undefined;
    if (group.size > maxPatternSize) throw new Unsupported();
  }

  #escape(): void {
    const boundary = this.#match(/[bB]/y);
    if (boundary !== null) return this.#assertion(`\\${boundary[0]}`);
    const set = this.#set();
    this.#emit(set === undefined ? this.#character() : `[${set}]`);
  }

  /** Reads `\d`, `\w`, `\s`, `\p{…}` or a complement, as the inside of a character class. */
  #set(): string | undefined {
    const short = this.#match(/[dDwWsS]/y)?.[0];
    if (short === "s") return spaces;
    if (short === "S") return notSpaces;
    if (short !== undefined) return `\\${short}`;
    const property = this.#match(/([pP])\{(?:(Script|sc|General_Category|gc)=)?(\w+)\}/y);
    if (property === null) return undefined;
    const [, letter, kind, name = ""] = property;
    const category = Object.hasOwn(propertyAliases, name) ? propertyAliases[name] : name;
    if (kind === "Script" || kind === "sc") {
      if (scriptNames.has(name)) return `\\${letter}{${name}}`;
    } else if (category !== undefined && propertyNames.has(category)) {
      return `\\${letter}{${category}}`;
    }
    throw new Unsupported();
  }

  /** Reads an escape that stands for exactly one character. */
  #character(): string {
    const control = this.#match(/[tnrfv]/y);
    if (control !== null) return `\\${control[0]}`;
    const byName = this.#match(/c([A-Za-z])/y);
    if (byName !== null) return code((byName[1] ?? "").charCodeAt(0) % 32);
    if (this.#match(/0(?!\d)/y) !== null) return code(0);
    const pair = this.#match(/u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/y);
    if (pair !== null) {
      const [high, low] = [Number.parseInt(pair[1] ?? "", 16), Number.parseInt(pair[2] ?? "", 16)];
      return code(String.fromCharCode(high, low).codePointAt(0) ?? 0);
    }
    const hex = this.#match(/x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}/y);
    if (hex !== null) {
      const value = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16);
      // RE2 reads whole characters, so a lone surrogate can match nothing in it.
      if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) throw new Unsupported();
      return code(value);
    }
    const punctuation = this.#match(/[!-/:-@[-`{-~ ]/y);
    if (punctuation !== null) return literal(punctuation[0]);
    throw new Unsupported();
  }

  #class(): void {
    const isNegated = this.#match(/\^/y) !== null;
    let inside = "";
    let mayBeginRange = false;
    let isRangeEnd = false;
    for (;;) {
      if (this.#at >= this.#text.length) throw new Unsupported();
      const char = this.#take();
      if (char === "]") break;
      if (char === "-" && mayBeginRange && !this.#matches(/\]|\\[dDwWsSpP]/y)) {
        inside += "-";
        mayBeginRange = false;
        isRangeEnd = true;
        continue;
      }
      const set = char === "\\" ? this.#set() : undefined;
      if (set !== undefined) inside += set;
      else if (char !== "\\") inside += literal(char);
      else inside += this.#match(/b/y) === null ? this.#character() : code(8);
      mayBeginRange = set === undefined && !isRangeEnd;
      isRangeEnd = false;
    }
    // RE2 refuses an empty class, so the set of all characters stands for `[^]`, its complement for `[]`.
    if (inside === "") this.#emit(isNegated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]");
    else this.#emit(`[${isNegated ? "^" : ""}${inside}]`);
  }
}

function code(point: number): string {
  return `\\x{${point.toString(16)}}`;
}

function literal(char: string): string {
  return /^[\w ]$|^[^\0-\x7f]$/u.test(char) ? char : code(char.codePointAt(0) ?? 0);
}

/**
 * Translates an ECMAScript regular expression to RE2 with the meaning JSON Schema gives it (`u` flag, search
 * anywhere). Returns undefined when no linear-time engine can run it: look-around, back-references.
 */
export function toLinearPattern(pattern: string): LinearPattern | undefined {
  if (pattern.length > maxPatternLength) return undefined;
  try {
    return new Translation(pattern).run();
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}
