/**
 * The name of a tool as JavaScript writes methods: `get_time`, `get-time` and `GET_TIME` are `getTime`. The
 * type says the same as the function, so that a typed client has exactly the methods that it declares.
 */
export function methodName(toolName: string): string {
  const name = isUpperCase(toolName) ? toolName.toLowerCase() : toolName;
  const [first = "", ...others] = name.split(/[-_./: ]+/).filter((word) => word !== "");
  const start = isUpperCase(first) ? first.toLowerCase() : changeFirst(first, "toLowerCase");
  return start + others.map((word) => changeFirst(word, "toUpperCase")).join("");
}

export type MethodName<ToolName extends string> = string extends ToolName
  ? string
  : Join<WithoutStart<OneSeparator<LowerIfUpper<ToolName>>>>;

function isUpperCase(text: string): boolean {
  return text.toUpperCase() === text;
}

function changeFirst(word: string, change: "toLowerCase" | "toUpperCase"): string {
  return word.charAt(0)[change]() + word.slice(1);
}

type LowerIfUpper<Text extends string> = Uppercase<Text> extends Text ? Lowercase<Text> : Text;

/** Every separator as `_`. One at a time: a pattern with a union of separators matches in several ways. */
type OneSeparator<Text extends string> = Replace<
  Replace<Replace<Replace<Replace<Text, "-">, ".">, "/">, ":">,
  " "
>;

type Replace<
  Text extends string,
  Separator extends string,
> = Text extends `${infer Head}${Separator}${infer Rest}`
  ? Replace<`${Head}_${Rest}`, Separator>
  : Text;

type WithoutStart<Text extends string> = Text extends `_${infer Rest}` ? WithoutStart<Rest> : Text;

type Join<Text extends string> = Text extends `${infer First}_${infer Rest}`
  ? `${LowerStart<First>}${Capitalized<Rest>}`
  : LowerStart<Text>;

type LowerStart<Word extends string> =
  Uppercase<Word> extends Word ? Lowercase<Word> : Uncapitalize<Word>;

type Capitalized<
  Text extends string,
  Done extends string = "",
> = Text extends `${infer Word}_${infer Rest}`
  ? Capitalized<Rest, `${Done}${Capitalize<Word>}`>
  : `${Done}${Capitalize<Text>}`;
