import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportedDocs, memberDocs } from "../../../../scripts/generate/doc-comments.ts";
import { fieldTable } from "../../../../scripts/generate/fields.ts";
import { protocolFiles } from "../../../../scripts/generate/files.ts";
import { anchor, table } from "../../../../scripts/generate/markdown.ts";
import { readMaterial } from "../../../../scripts/generate/material.ts";
import { fillProse } from "../../../../scripts/generate/prose.ts";
import { typeText } from "../../../../scripts/generate/type-text.ts";
import { ROOT } from "../../../../test/source/files.ts";
import type { JsonSchema } from "./document.ts";

const files = protocolFiles(readMaterial(ROOT));
const pages = [...files].filter(([path]) => path.endsWith(".md"));

describe("a generated file", () => {
  test.each([...files])("%s is up to date", (path, text) => {
    const message = `${path} is out of date: run \`npm run generate\``;
    expect(readFileSync(join(ROOT, path), "utf8") === text, message).toBe(true);
  });

  test("is the same every time", () => {
    expect(protocolFiles(readMaterial(ROOT))).toEqual(files);
  });
});

/** A page that is not generated; undefined if there is none. */
function writtenByHand(page: string): string | undefined {
  return existsSync(join(ROOT, page)) ? readFileSync(join(ROOT, page), "utf8") : undefined;
}

describe("the pages", () => {
  const headings = (text: string): string[] =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchor(heading));

  test.each(pages)("every link of %s has a target", (path, text) => {
    const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    const broken = targets.filter((target) => {
      const [file = "", place] = target.split("#");
      const page = file === "" ? path : join("docs/reference/protocol", file);
      const known = files.get(page) ?? writtenByHand(page);
      return known === undefined || (place !== undefined && !headings(known).includes(place));
    });
    expect(broken).toEqual([]);
  });

  test.each(pages)("no two headings of %s have the same anchor", (_path, text) => {
    expect(headings(text).filter((heading, index, all) => all.indexOf(heading) !== index)).toEqual([]);
  });

  test("have examples that are valid JSON", () => {
    const examples = pages.flatMap(([, text]) => [...text.matchAll(/```json\n([\s\S]*?)```/g)]);
    expect(examples.length).toBeGreaterThan(0);
    for (const [, example = ""] of examples) expect(() => JSON.parse(example)).not.toThrow();
  });
});

const linkTo = (name: string): string => `types.md#${name}`;

describe("a type as text", () => {
  test.each<[JsonSchema | boolean, string]>([
    [true, "anything"],
    [{ $ref: "#/$defs/Turn" }, "[Turn](types.md#Turn)"],
    [
      { type: "array", items: { $ref: "#/$defs/Turn" }, minItems: 1 },
      "list of [Turn](types.md#Turn), at least 1",
    ],
    [{ enum: ["a", "b", "c"] }, '`"a"`, `"b"` or `"c"`'],
    [{ type: "string", default: "a" }, 'string, default `"a"`'],
    [
      { type: "string", pattern: "^\\/.*", maxLength: 9 },
      "string that begins with `/`, at most 9 characters",
    ],
    [{ type: "string", pattern: "^[a-z]+$" }, "string matching `^[a-z]+$`"],
    [{ type: "string", minLength: 1 }, "string, not empty"],
    [{ type: "integer", minimum: 1, maximum: 200 }, "integer, 1 to 200"],
    [{ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, "integer, at least 0"],
    [{ type: "object", additionalProperties: {} }, "object with any fields"],
    [{ type: "object", additionalProperties: { type: "string" } }, "map of string by name"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string or null"],
  ])("%j is %s", (schema, words) => {
    expect(typeText(schema, linkTo)).toBe(words);
  });

  test("nested fields are listed with their path", () => {
    const inner: JsonSchema = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    };
    const schema: JsonSchema = {
      type: "object",
      properties: { one: inner, many: { type: "array", items: inner }, _meta: {} },
      required: ["many"],
    };
    expect(fieldTable(schema, "Required", linkTo).split("\n").slice(2)).toEqual([
      "| `one` | object |  |",
      "| `one.name` | string | yes |",
      "| `many` | list of object | yes |",
      "| `many[].name` | string | yes |",
    ]);
  });
});

describe("the parts of a page", () => {
  test("a bar in a cell does not end the cell", () => {
    expect(table(["A"], [["a | b"]])).toBe("| A |\n|---|\n| a \\| b |");
  });

  test("doc comments are found by the names they belong to", () => {
    const source =
      "/**\n * One\n * thing.\n */\nexport const One = 1;\nexport const Two = 2;\n/** Three. */\nexport function three() {}\n";
    expect([...exportedDocs(source)]).toEqual([
      ["One", "One thing."],
      ["three", "Three."],
    ]);
    expect([
      ...memberDocs("const T = {\n  /** First. */\n  a: 1,\n  b: 2,\n  /** Third. */\n  c: 3,\n};\n"),
    ]).toEqual([
      ["a", "First."],
      ["b", "First."],
      ["c", "Third."],
    ]);
  });

  test("prose is filled, and an unknown or missing placeholder is an error", () => {
    expect(fillProse("# A\n\n{{list}}\n", { list: "- b" })).toContain("# A\n\n- b\n");
    expect(() => fillProse("{{list}}", {})).toThrow("Nothing fills {{list}}.");
    expect(() => fillProse("", { list: "" })).toThrow("The prose has no place for list.");
  });
});
