import { expect, test } from "vitest";
import { ToolList } from "./tool-list.ts";

function listOf(...raw: readonly unknown[]): ToolList {
  const list = new ToolList();
  for (const tool of raw) list.add(tool);
  return list;
}

test("a tool keeps its name, its description and its schema, and nothing else", () => {
  const inputSchema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const list = listOf({ name: "a", description: "Does a", inputSchema, annotations: { readOnlyHint: true } });
  expect(list.tools).toEqual([{ name: "a", description: "Does a", parameters: inputSchema }]);
  expect(list.problem).toBeUndefined();
});

test("a long description is cut, a large or deep schema leaves its tool out", () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 40; level += 1) deep = { deep };
  const list = listOf(
    { name: "wordy", description: "x".repeat(10_000), inputSchema: {} },
    { name: "deep", inputSchema: deep },
  );
  expect(list.tools.map(({ description }) => description.length)).toEqual([2000]);
  expect(list.problem).toBe("1 of its tools is left out: malformed, or with a schema that is too large.");
});

test("many large schemas fill the list before their number does", () => {
  const inputSchema = { type: "object", description: "y".repeat(30_000) };
  const list = listOf(...Array.from({ length: 20 }, (_, at) => ({ name: `t${at}`, inputSchema })));
  expect(list.isFull).toBe(true);
  expect(list.tools).toHaveLength(8);
  expect(list.problem).toContain("the first 8 are used");
});
