import { describe, expect, it } from "vitest";

import { type ConfigProblem, formatOrigin, formatProblem } from "./config-problem.ts";

const problem: ConfigProblem = {
  severity: "error",
  code: "config_invalid",
  message: 'expected ","',
  path: "/srv/app/.plugboard/mcp.json",
  line: 12,
  column: 5,
};

describe("problems as people read them", () => {
  it("CFG-42: the place comes first, short when the file is near", () => {
    expect(formatProblem(problem, "/srv/app")).toBe('.plugboard/mcp.json:12:5 — expected ","');
    expect(formatProblem(problem, "/srv/app/a/b")).toBe(
      '../../.plugboard/mcp.json:12:5 — expected ","',
    );
    expect(formatProblem(problem, "/elsewhere/a/b")).toBe(
      '/srv/app/.plugboard/mcp.json:12:5 — expected ","',
    );
  });

  it("CFG-42: the server is named, and a problem without a file has no place", () => {
    expect(formatProblem({ ...problem, serverName: "github" }, "/srv/app")).toBe(
      '.plugboard/mcp.json:12:5 — github: expected ","',
    );
    const { path: _path, line: _line, column: _column, ...inCode } = problem;
    expect(formatProblem({ ...inCode, serverName: "github" })).toBe('github: expected ","');
  });

  it("CFG-40: an origin is a file and line, else the layer in words", () => {
    expect(formatOrigin({ layer: "user", path: "/h/mcp.json", line: 3 })).toBe("/h/mcp.json:3");
    expect(formatOrigin({ layer: "store" })).toBe("the settings store");
  });
});
