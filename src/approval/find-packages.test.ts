import { describe, expect, it } from "vitest";

import { findPackages } from "./find-packages.ts";
import { type PackageKind, resembledPackage, wellKnownPackages } from "./well-known-packages.ts";

const words = (line: string): [string, string[]] => {
  const [command = "", ...args] = line.split(" ");
  return [command, args];
};
const find = (line: string) => findPackages(...words(line));
const digest = `sha256:${"0".repeat(64)}`;
const commit = "0".repeat(40);

describe("the package that a command would fetch", () => {
  it.each([
    ["npx -y @modelcontextprotocol/server-filesystem@2025.8.21 .", "2025.8.21", true],
    ["npx @modelcontextprotocol/server-filesystem .", undefined, false],
    ["npx --yes @playwright/mcp@latest", "latest", false],
    ["npx @playwright/mcp@^1.2.3", "^1.2.3", false],
    ["npx @playwright/mcp@1.2", "1.2", false],
    ["npx @playwright/mcp@1.x", "1.x", false],
    ["npx @playwright/mcp@1.2.3-beta.1", "1.2.3-beta.1", true],
    ["/usr/bin/npx mcp-remote@0.1.0 https://h.example", "0.1.0", true],
    ["npx.cmd mcp-remote@0.1.0", "0.1.0", true],
    ["cmd /c npx -y mcp-remote@0.1.0", "0.1.0", true],
    ["npx -p mcp-remote@0.1.0 run", "0.1.0", true],
    ["npx --package=mcp-remote@0.1.0 -y -- run", "0.1.0", true],
    ["npm exec --yes -- mcp-remote@0.1.0", "0.1.0", true],
    ["pnpm dlx mcp-remote@0.1.0", "0.1.0", true],
    ["yarn dlx mcp-remote", undefined, false],
    ["bunx mcp-remote@next", "next", false],
    ["bun x mcp-remote@1.0.0", "1.0.0", true],
    ["npx github:owner/repo", undefined, false],
    [`npx github:owner/repo#${commit}`, undefined, true],
    ["npx owner/repo", undefined, false],
    ["npx https://h.example/x.tgz", undefined, false],
    ["npx alias@npm:other@1.0.0", "npm:other@1.0.0", false],
    ["uvx mcp-server-git", undefined, false],
    ["uvx mcp-server-git@latest", "latest", false],
    ["uvx mcp-server-git==2025.1.14", "2025.1.14", true],
    ["uvx mcp-server-git@1.0rc1", "1.0rc1", true],
    ["uvx mcp-server-git==1.*", "1.*", false],
    ["uvx mcp-server-git>=1.0", undefined, false],
    ["uvx --from mcp-server-git[all]==1.0 run", "1.0", true],
    [`uvx --from git+https://h.example/x@${commit} run`, undefined, true],
    ["uv tool run mcp-server-git==1.0", "1.0", true],
    ["pipx run --spec mcp-server-git==1.0 run", "1.0", true],
    ["docker run -i --rm -e TOKEN mcp/github", undefined, false],
    ["docker run -it --rm -v /a:/b --name x mcp/github:1.0 arg", "1.0", false],
    [`docker run --rm --env=A=b mcp/github@${digest}`, digest, true],
    ["podman run --network host localhost:5000/x:2", "2", false],
  ])("PRM-21, I4: %s", (line, version, isPinned) => {
    const found = find(line);
    expect(found).toHaveLength(1);
    const [first] = found as Exclude<typeof found, "unclear">;
    expect(first?.version).toBe(version);
    expect(first?.isPinned).toBe(isPinned);
    expect(line).toContain(first?.spec);
  });

  it.each([
    ["npx -y @playwright/mcp@1.2.3 --headless", "@playwright/mcp@1.2.3", "@playwright/mcp"],
    ["docker run -itp80:80 evil/image:1 mcp/github", "evil/image:1", "evil/image"],
    ["docker run -ite A=b --net=host evil/image:1 mcp/github", "evil/image:1", "evil/image"],
    ["docker run --rm=true -eA=b evil/image:1", "evil/image:1", "evil/image"],
    ["docker run localhost:5000/x:2 sh", "localhost:5000/x:2", "localhost:5000/x"],
    ["uvx --from mcp-server-git[all]==1.0 run", "mcp-server-git[all]==1.0", "mcp-server-git"],
  ])("I4: names it exactly: %s", (line, spec, name) => {
    expect(find(line)).toMatchObject([{ spec, name }]);
  });

  it.each([
    ["npx", "-y --yes -q --quiet -s --silent --no-install --offline --bun"],
    ["uvx", "-q --quiet -n --no-cache --isolated --offline --refresh --native-tls"],
    [
      "docker run",
      "-d -i -P -q -t --detach --init --interactive --no-healthcheck --privileged --publish-all --rm --tty",
    ],
  ])("I4: %s knows the options that stand alone: %s", (command, flags) => {
    for (const flag of flags.split(" "))
      expect(find(`${command} ${flag} some-package other`), flag).toMatchObject([
        { spec: "some-package" },
      ]);
  });

  it.each([
    ["npx", "--cache --registry --userconfig --prefix --loglevel"],
    ["uvx", "-p --python -i --index --index-url --default-index --directory"],
    [
      "docker run",
      "-a -c -e -h -l -m -p -u -v -w --add-host --env --name --network --pids-limit --pull --volume --workdir",
    ],
  ])("I4: %s knows the options with a value: %s", (command, settings) => {
    for (const setting of settings.split(" ")) {
      const lines = [`${command} ${setting} value some-package other`];
      if (setting.startsWith("--")) lines.push(`${command} ${setting}=value some-package other`);
      for (const line of lines) expect(find(line), line).toMatchObject([{ spec: "some-package" }]);
    }
  });

  it.each([
    ["npx", "-p --package"],
    ["uvx", "--from --spec --with -w"],
  ])("I4: %s knows the options that name the package: %s", (command, sources) => {
    for (const source of sources.split(" ")) {
      expect(find(`${command} ${source} some-package program`), source).toMatchObject([
        { spec: "some-package" },
      ]);
      expect(find(`${command} ${source}`), source).toEqual([]);
    }
  });

  it.each([
    "npx pnpx bunx uvx",
    "npm exec,npm x,pnpm dlx,yarn dlx,bun x,uv tool run,pipx run",
    "docker run,docker container run,podman run,nerdctl run",
    "NPX.EXE,npx.cmd,npx.bat,npx.ps1,/usr/bin/npx,cmd /c npx,cmd /C npx",
  ])("I4: fetch packages: %s", (commands) => {
    for (const command of commands.split(commands.includes(",") ? "," : " "))
      expect(find(`${command} some-package`), command).toMatchObject([{ spec: "some-package" }]);
    expect(findPackages(String.raw`C:\nodejs\npx.cmd`, ["some-package"])).toHaveLength(1);
  });

  it("I4: says of what kind a package is", () => {
    expect(["npx x-y-z", "uvx x-y-z", "docker run x-y-z"].map((line) => find(line))).toMatchObject([
      [{ kind: "npm" }],
      [{ kind: "pypi" }],
      [{ kind: "image" }],
    ]);
  });

  it.each([
    [".", true],
    ["..", true],
    ["./x", true],
    ["/x", true],
    ["~/x", true],
    [String.raw`\\host\x`, true],
    ["file:x", true],
    ["C:/x", true],
    [String.raw`c:\x`, true],
    ["x.y", false],
    ["...x", true],
    ["filed", false],
  ])("I4: %s is a place of this machine: %s", (spec, isLocal) => {
    expect(findPackages("npx", [spec])).toHaveLength(isLocal ? 0 : 1);
  });

  it("I4: names all of several", () => {
    expect(find("npx -p a@1.0.0 --package b run")).toMatchObject([
      { spec: "a@1.0.0", isPinned: true },
      { spec: "b", isPinned: false },
    ]);
  });

  it.each([
    "node server.js",
    "npm run start",
    "npx ./local",
    "uvx .",
    "docker ps",
    "npx",
    "uv run x",
    "",
  ])("I4: none in: %s", (line) => {
    expect(find(line)).toEqual([]);
  });

  it.each([
    "npx --omit @playwright/mcp@1.2.3 evil",
    "uvx --unknown mcp-server-git==1.0 evil",
    "docker --context x run image",
    "docker run --oom-kill-disable evil mcp/github",
    "docker run -x evil mcp/github",
    "docker run -- evil",
  ])("I4: an option that may hide the package makes it unclear: %s", (line) => {
    expect(find(line)).toBe("unclear");
  });
});

describe("names that can be mistaken for another", () => {
  const filesystem = "@modelcontextprotocol/server-filesystem";

  it.each([
    ["npx @modelcontextprotocol/server-filesytem", filesystem],
    ["npx @modelcontextprotcol/server-filesystem@1.0.0", filesystem],
    ["npx @model-context-protocol/server-filesystem", filesystem],
    ["npx modelcontextprotocol-server-filesystem", filesystem],
    ["npx @modelcontextprotocol/server-fi1esystem", filesystem],
    ["npx mcp-rem0te", "mcp-remote"],
    ["npx rncp-rem0te", "mcp-remote"],
    ["npx mcр-rеmote", "mcp-remote"],
    ["uvx mcp-server-gti", "mcp-server-git"],
    ["docker run mcp/githud", "mcp/github"],
  ])("I4: %s looks like %s", (line, known) => {
    expect(find(line)).toMatchObject([{ resembles: known }]);
  });

  it.each([
    `npx ${filesystem}`,
    "npx @modelcontextprotocol/server-gitlab",
    "npx some-other-server",
    "npx ab",
    "uvx mcp_server_git",
    "uvx MCP-Server-Git",
  ])("I4: %s does not", (line) => {
    expect(find(line)).toEqual([expect.not.objectContaining({ resembles: expect.anything() })]);
  });

  const kinds = Object.keys(wellKnownPackages) as PackageKind[];

  it.each(kinds)("I4: every well-known name of kind %s can be mistaken for", (kind) => {
    for (const name of wellKnownPackages[kind]) {
      expect(resembledPackage(kind, name), name).toBeUndefined();
      // Shorter ones differ in a letter from too many others.
      const isLong = name.replaceAll(/[^a-z0-9]/g, "").length >= 8;
      if (isLong) expect(resembledPackage(kind, `${name}q`), name).toBe(name);
    }
  });

  it("I4: a name of a megabyte is judged like any other", () => {
    expect(findPackages("npx", ["x".repeat(1_000_000)])).toMatchObject([{ isPinned: false }]);
  });
});
