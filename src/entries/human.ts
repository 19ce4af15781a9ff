// `plugboard/human`: a person at a terminal, and what a person is asked, in full. Named exports only.

export { createTerminalHuman } from "../cli/human/terminal-human.ts";
export type { TerminalHumanOptions } from "../cli/human/terminal-human.ts";
export type { ReadlineInterface } from "../cli/human/dialogue.ts";
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  FieldOption,
  FieldValue,
  FormField,
  FormQuestion,
  InputQuestion,
  NumberField,
  ShownMessage,
  ShownPrompt,
  TextField,
  TextFormat,
  UrlQuestion,
} from "../human/human.ts";
export type {
  AddressTarget,
  CommandFile,
  EntryVariable,
  LaunchDifference,
  LaunchQuestion,
  PackageNotice,
  ProcessTarget,
  WantedVariable,
} from "../human/launch-question.ts";
export type { ShownText } from "../human/shown-text.ts";
