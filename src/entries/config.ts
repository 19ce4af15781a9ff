// `plugboard/config`: what configuration is read to, and how it is edited. Named exports only.

export type {
  AddOptions,
  EntryInput,
  ImportOptions,
  ImportResult,
  KeptServer,
  ServerScope,
  SkippedServer,
} from "../host/host.ts";
export { loadConfig } from "../config/load-config.ts";
export type { LoadConfigOptions, LoadedConfig } from "../config/load-config.ts";
export { parseConfig } from "../config/parse-config.ts";
export type { ParsedConfig } from "../config/parse-config.ts";
export type { ConfigProblem } from "../config/config-problem.ts";
export type {
  ConfigLayer,
  ConfigText,
  NamingPreset,
  Provenance,
  ServerConfig,
  TransportKind,
} from "../config/server-config.ts";
export { SecretText } from "../text/secret-text.ts";
export { SAFE_ENV_KEYS } from "../isolation/child-environment.ts";
