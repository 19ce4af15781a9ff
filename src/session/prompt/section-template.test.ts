import { describe, expect, it } from "vitest";

import { SectionTemplate } from "./section-template.ts";

function render(template: string, values: Readonly<Record<string, string | number>> = {}): string {
  return new SectionTemplate(template, new Set(Object.keys(values))).render(
    new Map(Object.entries(values)),
  );
}

describe("SectionTemplate", () => {
  it("PRT-05: takes away shared indentation and space around the text", () => {
    expect(render("\n    One\n      two\n\n    three\n    ")).toBe("One\n  two\n\nthree");
    expect(render("\t\ta\r\n\t\t\tb")).toBe("a\n\tb");
    expect(render("One\n    two")).toBe("One\n    two");
    expect(render("  \n ")).toBe("");
  });

  it("PRT-04: fills in variables, once and as they are", () => {
    const values = { a: "${b}\n$$", b: 2 };
    expect(render("${a} ${b} ${b}", values)).toBe("${b}\n$$ 2 2");
  });

  it("PRT-09: $$ is a dollar sign, and a dollar sign alone is one, too", () => {
    expect(render("$$ $5 $a $${b} $", { b: 1 })).toBe("$ $5 $a ${b} $");
  });

  it.each(["${c}", "${}", "${ a }", "${a", "${a${a}", "${toString}", "${__proto__}"])(
    "PRT-09: %s is refused when the template is made",
    (template) => {
      expect(() => new SectionTemplate(`x ${template} y`, new Set(["a"]))).toThrow(
        expect.objectContaining({
          code: "config_invalid",
          message: expect.stringContaining("the template has no variable ${"),
          hint: expect.stringContaining("known are ${a}"),
        }),
      );
    },
  );
});
