import { describe, expect, it } from "vitest";

import type { McpTool } from "../mcp-tool.ts";
import type { PromptSection } from "./prompt-section.ts";
import { PromptTemplate } from "./prompt-template.ts";

function offering(key: string, ...names: readonly string[]): PromptSection {
  return {
    key,
    acceptsOverrides: false,
    params: [],
    render: () => `text of ${key}`,
    tools: () => names.map((name) => ({ name }) as McpTool),
  };
}

describe("PromptTemplate", () => {
  it("PRT-07: renders its sections in order and exposes their tools", () => {
    const prompt = new PromptTemplate({
      ns: "demo/agents",
      key: "mcp",
      sections: [
        { key: "role", title: "Role", template: "  You are ${who}.", params: ["who"] },
        offering("a", "a_x", "a_y"),
        { key: "nothing", template: "" },
        offering("b", "b_x"),
      ],
    });
    expect(prompt.render({ who: "Ada" })).toBe("## Role\n\nYou are Ada.\n\ntext of a\n\ntext of b");
    expect(prompt.tools().map(({ name }) => name)).toEqual(["a_x", "a_y", "b_x"]);
    expect(Object.isFrozen(prompt.tools())).toBe(true);
  });

  it("PRT-07: two tools of one name are an error, of the list and of the text", () => {
    const sections = [offering("a", "x"), offering("b", "y", "x")];
    const prompt = new PromptTemplate({ ns: "demo", key: "twice", sections });
    const error = expect.objectContaining({
      code: "config_invalid",
      message: 'two sections of the prompt "twice" offer the tool x',
    });
    expect(() => prompt.tools()).toThrow(error);
    expect(() => prompt.render()).toThrow(error);
  });

  it.each(["", "A", "-a", ".a", "a b", "a/b", "ä", "a".repeat(65)])(
    "PRT-07: %j is no key of a prompt or section",
    (key) => {
      const invalid = expect.objectContaining({ code: "config_invalid" });
      expect(() => new PromptTemplate({ ns: "demo", key, sections: [] })).toThrow(invalid);
      for (const section of [{ key, template: "x" }, offering(key)])
        expect(() => new PromptTemplate({ ns: "demo", key: "a", sections: [section] })).toThrow(
          invalid,
        );
    },
  );

  it("PRT-07: two sections of one key are refused", () => {
    const sections = [offering("a"), { key: "a", template: "x" }];
    expect(() => new PromptTemplate({ ns: "demo", key: "p", sections })).toThrow(
      'the prompt "p" has two sections "a"',
    );
  });

  it("PRT-06: a param that is missing, unknown or no plain value is refused", () => {
    const sections = [{ key: "a", template: "${x}", params: ["x"] }];
    const prompt = new PromptTemplate({ ns: "demo", key: "p", sections });
    expect(prompt.render({ x: 0 })).toBe("0");
    for (const params of [{}, { x: "1", y: "2" }, { x: {} as string }, { toString: "1" }])
      expect(() => prompt.render(params)).toThrow(
        expect.objectContaining({ code: "invalid_arguments" }),
      );
  });

  it("PRT-06: a name that cannot stand in a template is no param", () => {
    for (const name of ["", "a b", "a}", "1"])
      expect(
        () =>
          new PromptTemplate({
            ns: "demo",
            key: "p",
            sections: [{ key: "a", template: "x", params: [name] }],
          }),
      ).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("PRT-08: a section is only replaced when it accepts that, and by a template that is sound", () => {
    const prompt = new PromptTemplate({
      ns: "demo",
      key: "p",
      sections: [
        { key: "open", title: "T", template: "old ${x}", params: ["x"], acceptsOverrides: true },
        { key: "shut", template: "kept" },
      ],
    });
    const render = (overrides: Readonly<Record<string, string>>) =>
      prompt.render({ x: 1 }, { overrides });
    expect(render({ open: "new ${x}" })).toBe("## T\n\nnew 1\n\nkept");
    expect(render({})).toBe("## T\n\nold 1\n\nkept");
    expect(() => render({ shut: "new" })).toThrow(
      expect.objectContaining({
        code: "denied",
        message: 'the section "shut" does not accept overrides',
      }),
    );
    expect(() => render({ open: "${y}" })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
    expect(() => render({ other: "x" })).toThrow('the prompt "p" has no section "other"');
  });
});
