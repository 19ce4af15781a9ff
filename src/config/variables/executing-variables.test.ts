import { describe, expect, it } from "vitest";

import { changesExecution } from "./executing-variables.ts";

describe("variables that change what is executed", () => {
  const names =
    "PATH Path NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES PYTHONPATH PYTHONSTARTUP " +
    "PERL5LIB PERL5OPT RUBYOPT BASH_ENV ENV npm_config_registry NPM_CONFIG_NODE_OPTIONS GIT_SSH_COMMAND " +
    "GIT_CONFIG_COUNT UV_INDEX_URL PIP_INDEX_URL JAVA_TOOL_OPTIONS DOTNET_STARTUP_HOOKS HOME";

  it.each(names.split(" "))("L2: %s is one", (name) => {
    expect(changesExecution(name)).toBe(true);
  });

  it.each(["API_KEY", "NODE_ENV", "GITHUB_TOKEN", "MY_PATH", "LANG", "DEBUG", "ENVIRONMENT", ""])(
    "L2: %s is none",
    (name) => {
      expect(changesExecution(name)).toBe(false);
    },
  );
});
