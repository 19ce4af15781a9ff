/**
 * Secrets as they lie in environments of agents. Rows run in processes that have them from the start,
 * so that whoever sees one has seen the host's environment.
 */
export const canaries: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "ANTHROPIC_API_KEY",
    "DATABASE_URL",
    "npm_config_abuse_token",
    "PLUGBOARD_ABUSE_SECRET",
  ].map((name, index) => [name, `canary-${index}-of-the-host`]),
);
