// `plugboard/config`: what configuration is read to, and how it is edited. Named exports only.

export type {
  AddOptions,
  CheckedFile,
  ConfigCheck,
  EntryInput,
  ImportOptions,
  ImportedServer,
  ImportedVariable,
  ImportResult,
  ImportSource,
  EditableEntry,
  KeptServer,
  ServerScope,
  ShadowedEntry,
  SkippedServer,
  UpdateOptions,
} from "../host/host.ts";
export { loadConfig } from "../config/files/load-config.ts";
export type { LoadConfigOptions, LoadedConfig } from "../config/files/load-config.ts";
export { parseConfig } from "../config/parse/parse-config.ts";
export type { ParsedConfig } from "../config/parse/parse-config.ts";
export type { ConfigProblem } from "../config/keys/config-problem.ts";
export type {
  ConfigLayer,
  ConfigText,
  NamingPreset,
  Provenance,
  ServerConfig,
  TransportKind,
} from "../config/keys/server-config.ts";
export { SecretText } from "../text/secrets/secret-text.ts";
export { SAFE_ENV_KEYS } from "../isolation/process/child-environment.ts";
