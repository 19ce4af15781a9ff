/**
 * The beginning of a value's JSON, for whoever shows only that: at least `minChars` characters where there
 * are so many, and the whole JSON of a short value. What comes behind is not written at all.
 */
export function jsonHead(value: unknown, minChars: number): string {
  let text = "";
  const write = (item: unknown): void => {
    if (typeof item === "string") text += JSON.stringify(item.slice(0, minChars));
    else if (typeof item !== "object" || item === null) text += JSON.stringify(item) ?? "null";
    else if (Array.isArray(item)) writeList(item);
    else writeObject(item as Readonly<Record<string, unknown>>);
  };
  const writeList = (list: readonly unknown[]): void => {
    text += "[";
    for (const [index, item] of list.entries()) {
      if (text.length >= minChars) return;
      if (index > 0) text += ",";
      write(item);
    }
    text += "]";
  };
  const writeObject = (object: Readonly<Record<string, unknown>>): void => {
    text += "{";
    let separator = "";
    for (const key of Object.keys(object)) {
      if (text.length >= minChars) return;
      if (object[key] === undefined) continue;
      text += `${separator}${JSON.stringify(key.slice(0, minChars))}:`;
      separator = ",";
      write(object[key]);
    }
    text += "}";
  };
  write(value);
  return text;
}
