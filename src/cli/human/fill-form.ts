import type { ElicitAnswer, FieldValue, FormField, FormQuestion } from "../../human/human.ts";
import { type Dialogue, isYes } from "./dialogue.ts";

/** What a line stands for; `problem` asks for another one. */
type Read = { readonly value: FieldValue } | { readonly problem: string };

/**
 * Asks for the fields of a form one after the other, and whether to send them. Enter takes the default,
 * or leaves out what is not required; a required field without an answer declines the form.
 */
export async function fillForm(
  dialogue: Dialogue,
  { serverName, fields, problem }: FormQuestion,
  signal: AbortSignal,
): Promise<ElicitAnswer> {
  if (problem !== undefined) dialogue.note(`  ⚠ ${problem}`);
  const content: Record<string, FieldValue> = {};
  for (const field of fields) {
    const value = await askField(dialogue, field, signal);
    if (value === undefined) return { action: "cancel" };
    if (value === "" && field.isRequired && field.default === undefined)
      return { action: "decline" };
    if (value !== "") content[field.name] = value;
  }
  const answer = await dialogue.ask(`Send this to ${serverName}? [y/N] `, signal);
  if (answer === undefined) return { action: "cancel" };
  return isYes(answer) ? { action: "accept", content } : { action: "decline" };
}

/** The value of a field; an empty text when it is left out, undefined at the end of input. */
async function askField(
  dialogue: Dialogue,
  field: FormField,
  signal: AbortSignal,
): Promise<FieldValue | undefined> {
  if (field.description !== undefined) dialogue.note(`  ${field.description}`);
  if ("options" in field)
    for (const [index, { title }] of field.options.entries())
      dialogue.note(`  ${index + 1}  ${title}`);
  for (;;) {
    const line = await dialogue.ask(`  ${labelOf(field)}: `, signal);
    if (line === undefined || line === "") return line;
    const read = readField(field, line);
    if ("value" in read) return read.value;
    dialogue.note(`  ⚠ ${read.problem}`);
  }
}

function labelOf(field: FormField): string {
  const shown = shownDefault(field);
  const notes = [
    ...(field.type === "boolean" ? ["y or n"] : []),
    ...(field.type === "choices" ? ["numbers, with commas between them"] : []),
    ...("format" in field ? [field.format] : []),
    ...(shown === undefined ? [] : [`Enter: ${shown}`]),
    ...(field.isRequired || shown !== undefined ? [] : ["may be left out"]),
  ];
  return notes.length === 0 ? field.title : `${field.title} (${notes.join("; ")})`;
}

function shownDefault(field: FormField): string | undefined {
  if (field.default === undefined) return undefined;
  switch (field.type) {
    case "boolean":
      return field.default ? "y" : "n";
    case "choice":
      return titleOf(field, field.default);
    case "choices":
      return field.default.map((value) => titleOf(field, value)).join(", ");
    case "text":
    case "number":
    case "integer":
      return String(field.default);
  }
}

type ListField = Extract<FormField, { readonly options: unknown }>;

function titleOf({ options }: ListField, value: string): string {
  return options.find((option) => option.value === value)?.title ?? "none";
}

function readField(field: FormField, line: string): Read {
  switch (field.type) {
    case "text":
      return { value: line };
    case "number":
    case "integer":
      return Number.isFinite(Number(line))
        ? { value: Number(line) }
        : { problem: "that is not a number" };
    case "boolean":
      if (!/^(?:y(?:es)?|no?)$/i.test(line)) return { problem: "y or n" };
      return { value: isYes(line) };
    case "choice": {
      const [value] = pick(field, [line]);
      return value === undefined ? { problem: listProblem(field) } : { value };
    }
    case "choices": {
      const values = pick(field, line.split(","));
      return values.includes(undefined)
        ? { problem: listProblem(field) }
        : { value: values.filter((value) => value !== undefined) };
    }
  }
}

/** The options that numbers stand for; undefined for a word that stands for none. */
function pick({ options }: ListField, words: readonly string[]): readonly (string | undefined)[] {
  return words.map((word) => options[Number(word) - 1]?.value);
}

function listProblem({ options }: ListField): string {
  return `a number from 1 to ${options.length}`;
}
