import { describe, expect, it } from "vitest";

import { displayPath, displayPathsIn } from "./display-path.ts";

const standpoint = { cwd: "/home/ada/project", home: "/home/ada" };

describe("paths as people see them", () => {
  it.each([
    ["/home/ada/project/.plugboard/mcp.json:7", ".plugboard/mcp.json:7"],
    ["/home/ada/.plugboard/mcp.json", "~/.plugboard/mcp.json"],
    ["/home/ada/project-two/x", "~/project-two/x"],
    ["/etc/hosts", "/etc/hosts"],
    ["/home/ada/project", "~/project"],
  ])("ERR-17: %s is shown as %s", (file, shown) => {
    expect(displayPath(file, standpoint)).toBe(shown);
  });

  it("are shortened inside of a sentence, too", () => {
    const text = "not set (/home/ada/project/a.json:9), see /home/ada/b and /etc/c";
    expect(displayPathsIn(text, standpoint)).toBe("not set (a.json:9), see ~/b and /etc/c");
  });

  it("stay whole when the reader stands at the root", () => {
    expect(displayPathsIn("/etc/c", { cwd: "/", home: undefined })).toBe("/etc/c");
    expect(displayPath("/etc/c", { cwd: "/srv", home: undefined })).toBe("/etc/c");
  });
});
