import { allKinds, kindBits, type Kinds } from "./accepted-kinds.ts";
import {
  anyObjectType,
  arrayOf,
  atom,
  type TypeText,
  unionOf,
  unknownType,
  widened,
} from "./type-text.ts";

/** `type` where it says nothing but which kinds there are. */
export function restrict(type: TypeText, kinds: Kinds): TypeText {
  return type.text === unknownType.text ? widened(kindsType(kinds), type.wider) : type;
}

/** All values of these kinds, with what else is known about objects and arrays. */
export function kindsType(kinds: Kinds, object?: TypeText, array?: TypeText): TypeText {
  const isEverything = kinds === allKinds && object === undefined && array === undefined;
  if (isEverything) return unknownType;
  const types: TypeText[] = [];
  if ((kinds & kindBits.object) !== 0) types.push(object ?? anyObjectType);
  if ((kinds & kindBits.array) !== 0) types.push(array ?? arrayOf(unknownType));
  for (const kind of ["string", "number", "boolean", "null"] as const)
    if ((kinds & kindBits[kind]) !== 0) types.push(atom(kind));
  return unionOf(types);
}
