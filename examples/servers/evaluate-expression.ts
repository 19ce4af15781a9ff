// Arithmetic without `eval`: whoever can call the tool could run any program otherwise.
const token = /\s*(\d+(?:\.\d+)?|[-+*/%()])/y;
const maxLength = 1_000;

/** The value of numbers joined by + - * / % and parentheses. */
export function evaluateExpression(expression: string): number {
  if (expression.length > maxLength) throw new Error("The expression is too long");
  const tokens = tokenize(expression);
  const value = sum(tokens);
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]}`);
  return value;
}

function tokenize(expression: string): string[] {
  const text = expression.trimEnd();
  const tokens: string[] = [];
  for (token.lastIndex = 0; token.lastIndex < text.length;) {
    const start = token.lastIndex;
    const found = token.exec(text)?.[1];
    if (found === undefined) throw new Error(`Unexpected ${text.slice(start).trimStart()[0]}`);
    tokens.push(found);
  }
  return tokens;
}

function sum(tokens: string[]): number {
  let value = product(tokens);
  while (tokens[0] === "+" || tokens[0] === "-")
    value += tokens.shift() === "+" ? product(tokens) : -product(tokens);
  return value;
}

function product(tokens: string[]): number {
  let value = factor(tokens);
  for (;;) {
    if (tokens[0] === "*") value *= next(tokens);
    else if (tokens[0] === "/") value /= next(tokens);
    else if (tokens[0] === "%") value %= next(tokens);
    else return value;
  }
}

/** The operand after an operator. */
function next(tokens: string[]): number {
  tokens.shift();
  return factor(tokens);
}

function factor(tokens: string[]): number {
  const first = tokens.shift();
  if (first === undefined) throw new Error("The expression ends too early");
  if (first === "-") return -factor(tokens);
  if (first === "+") return factor(tokens);
  if (first === "(") {
    const value = sum(tokens);
    if (tokens.shift() !== ")") throw new Error("A parenthesis is not closed");
    return value;
  }
  const value = Number(first);
  if (Number.isNaN(value)) throw new Error(`Unexpected ${first}`);
  return value;
}
