import { describe, expect, test } from "vitest";
import { isTitleSchema, titleJson } from "./title-threads.ts";

describe("a title", () => {
  const schema = (maxLength?: number) => ({
    type: "object",
    properties: { title: maxLength === undefined ? { type: "string" } : { type: "string", maxLength } },
  });

  test.each([
    ["Instructions.\n\nUser's first message:\nadd a lamp", undefined, "Add a lamp"],
    ["Instructions.\n\nUser prompt:\n**fix** `it` now!", undefined, "Fix it now"],
    ["Instructions.\n\nUser prompt:\nfix the lamp in the hall", 12, "Fix the lamp"],
    ["Instructions.\n\nUser prompt:\nunbreakable", 5, "Unbre"],
    ["", undefined, "Untitled"],
  ])("of %j with room for %j is %j", (prompt, maxLength, title) => {
    expect(JSON.parse(titleJson(prompt, schema(maxLength)))).toEqual({ title });
  });

  test("is requested only by a schema of nothing else", () => {
    expect(isTitleSchema(schema())).toBe(true);
    const other = { type: "object", properties: { name: { type: "string" } } };
    expect(
      [undefined, null, {}, other, { properties: { title: { type: "number" } } }].map(isTitleSchema),
    ).toEqual(Array(5).fill(false));
  });
});
