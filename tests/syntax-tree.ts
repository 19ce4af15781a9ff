import { parseAst } from "vitest/node";

/** A node of a source file's syntax tree, in the ESTree shape. */
export interface AstNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

export const isNode = (value: unknown): value is AstNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** `x as T`, `x!` and the like: expressions, whose types are nodes of their own. */
const typedExpressions: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSInstantiationExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** Visits every node below and including `node`; `isType` is true inside of type syntax. */
export function walk(
  node: AstNode,
  visit: (node: AstNode, isType: boolean) => void,
  isType = false,
): void {
  const inType = isType || (node.type.startsWith("TS") && !typedExpressions.has(node.type));
  visit(node, inType);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, inType);
    }
  }
}

export function literalText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  const quasis = node["quasis"] as readonly {
    readonly value: { readonly cooked: string | null };
  }[];
  return quasis.map(({ value }) => value.cooked ?? "").join("${}");
}

export const identifierName = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Identifier" ? (node["name"] as string) : undefined;

/** The tree of a TypeScript file. */
export function parseSource(source: string): AstNode {
  return parseAst(source, { lang: "ts" }) as unknown as AstNode;
}
