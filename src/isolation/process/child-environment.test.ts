import { describe, expect, it } from "vitest";

import {
  childEnvironment,
  type ChildEnvironmentOptions,
  SAFE_ENV_KEYS,
} from "./child-environment.ts";

function compute(options: Partial<ChildEnvironmentOptions>): Record<string, string> {
  return {
    ...childEnvironment({
      hostEnv: {},
      env: {},
      envPassthrough: [],
      inheritEnv: "safe",
      platform: "linux",
      ...options,
    }),
  };
}

describe("what a server sees of the host", () => {
  it("ENV-01: exactly the safe list, and of it only what is set", () => {
    expect(SAFE_ENV_KEYS).toStrictEqual([
      "PATH",
      "HOME",
      "USER",
      "LOGNAME",
      "LANG",
      "LC_ALL",
      "LC_CTYPE",
      "TERM",
      "SHELL",
      "TMPDIR",
      "TMP",
      "TEMP",
    ]);
    const hostEnv = { PATH: "/bin", HOME: "/home/a", TERM: "", USERPROFILE: "x", EDITOR: "vi" };
    expect(compute({ hostEnv })).toStrictEqual({ PATH: "/bin", HOME: "/home/a", TERM: "" });
  });

  it("ENV-02: a secret of the host stays with the host unless it is named", () => {
    const hostEnv = { PATH: "/bin", OPENROUTER_API_KEY: "canary" };
    expect(compute({ hostEnv })).toStrictEqual({ PATH: "/bin" });
    expect(compute({ hostEnv, envPassthrough: ["OPENROUTER_API_KEY"] })).toStrictEqual(hostEnv);
  });

  it("ENV-03 ENV-13: explicit variables are set as they are", () => {
    expect(compute({ env: { NODE_ENV: "production", EMPTY: "" } })).toStrictEqual({
      NODE_ENV: "production",
      EMPTY: "",
    });
  });

  it("ENV-04: a passthrough name that is not set is left out, not emptied", () => {
    const hostEnv = { SET: "1", UNDEFINED: undefined };
    expect(compute({ hostEnv, envPassthrough: ["SET", "UNDEFINED", "ABSENT"] })).toStrictEqual({
      SET: "1",
    });
  });

  it("ENV-05: explicit wins over passthrough, passthrough over what is inherited", () => {
    const hostEnv = { PATH: "/host", TOKEN: "host" };
    const envPassthrough = ["TOKEN", "PATH"];
    expect(compute({ hostEnv, envPassthrough, env: { PATH: "/own", TOKEN: "own" } })).toStrictEqual(
      {
        PATH: "/own",
        TOKEN: "own",
      },
    );
  });

  it("ENV-06: a safe name in the passthrough list changes nothing", () => {
    const hostEnv = { HOME: "/home/a" };
    expect(compute({ hostEnv, envPassthrough: ["HOME", "HOME"] })).toStrictEqual(hostEnv);
  });

  it("ENV-11: two servers share nothing but the safe list", () => {
    const hostEnv = { PATH: "/bin", A: "a", B: "b" };
    const first = compute({ hostEnv, envPassthrough: ["A"], env: { ONLY_FIRST: "1" } });
    const second = compute({ hostEnv, envPassthrough: ["B"] });
    expect(first).toStrictEqual({ PATH: "/bin", A: "a", ONLY_FIRST: "1" });
    expect(second).toStrictEqual({ PATH: "/bin", B: "b" });
  });

  it("inherits nothing with `none`, which leaves what is named", () => {
    const hostEnv = { PATH: "/bin", HOME: "/home/a", TOKEN: "t" };
    const options = { hostEnv, envPassthrough: ["TOKEN"], env: { X: "1" } };
    expect(compute({ ...options, inheritEnv: "none" })).toStrictEqual({ TOKEN: "t", X: "1" });
  });

  it("ENV-17: even `all` leaves out what Node and npm set for the host itself", () => {
    const implicit = {
      NODE_CHANNEL_FD: "3",
      NODE_CHANNEL_SERIALIZATION_MODE: "json",
      NODE_UNIQUE_ID: "1",
      NODE_V8_COVERAGE: "/c",
      npm_config_registry: "r",
      npm_lifecycle_event: "test",
      INIT_CWD: "/",
    };
    const hostEnv = { ...implicit, PATH: "/bin", EDITOR: "vi" };
    const inheritEnv = "all";
    expect(compute({ hostEnv, inheritEnv })).toStrictEqual({ PATH: "/bin", EDITOR: "vi" });
    expect(
      compute({ hostEnv, inheritEnv, envPassthrough: ["npm_config_registry"] }),
    ).toHaveProperty("npm_config_registry", "r");
  });

  it("ENV-16: Windows adds its own names, on Windows only, and ignores case", () => {
    const hostEnv = {
      Path: "C:\\bin",
      SystemRoot: "C:\\Windows",
      userprofile: "C:\\me",
      Other: "x",
    };
    expect(compute({ hostEnv, platform: "win32" })).toStrictEqual({
      PATH: "C:\\bin",
      SYSTEMROOT: "C:\\Windows",
      USERPROFILE: "C:\\me",
    });
    expect(compute({ hostEnv, platform: "win32", env: { path: "D:\\" } })).toStrictEqual({
      path: "D:\\",
      SYSTEMROOT: "C:\\Windows",
      USERPROFILE: "C:\\me",
    });
    expect(compute({ hostEnv, platform: "linux" })).toStrictEqual({});
  });

  it("a variable named like a part of JavaScript is a variable like any other", () => {
    const env = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    const child = childEnvironment({
      hostEnv: {},
      env,
      envPassthrough: ["toString"],
      inheritEnv: "safe",
      platform: "linux",
    });
    expect(Object.entries(child)).toStrictEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });
});
