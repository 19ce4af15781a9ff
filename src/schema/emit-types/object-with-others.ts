import {
  atom,
  type Field,
  objectOf,
  type TypeText,
  unionOf,
  unknownType,
  widened,
} from "./type-text.ts";

/** TypeScript wants the type of every named field to fit the one of the others. */
export function objectWithOthers(
  fields: readonly Field[],
  others: TypeText,
  reasons: readonly string[],
): TypeText {
  const isUnknown = others.text === unknownType.text;
  const doFit = isUnknown || fields.every(({ type }) => type.text === others.text);
  if (!doFit) return objectOf(fields, atom("unknown", [...reasons, "additionalProperties"]));
  const hasOptional = fields.some(({ isRequired }) => !isRequired);
  const index = hasOptional ? unionOf([others, atom("undefined")]) : others;
  return objectOf(fields, widened(index, reasons));
}
