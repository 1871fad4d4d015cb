import fc from "fast-check";
import { expect, test } from "vitest";
import { nameTools, ToolList, type ToolOrigin } from "./tool-list.ts";

function listOf(...raw: readonly unknown[]): ToolList {
  const list = new ToolList();
  for (const tool of raw) list.add(tool);
  return list;
}

test("reads only name, description and schema of a tool", () => {
  const inputSchema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const list = listOf({ name: "a", description: "Does a", inputSchema, annotations: { readOnlyHint: true } });
  expect(list.tools).toEqual([{ name: "a", description: "Does a", parameters: inputSchema }]);
  expect(list.problem).toBeUndefined();
});

test("truncates long descriptions and leaves out tools with large or deep schemas", () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 40; level += 1) deep = { deep };
  const list = listOf(
    { name: "wordy", description: "x".repeat(10_000), inputSchema: {} },
    { name: "deep", inputSchema: deep },
  );
  expect(list.tools.map(({ description }) => description.length)).toEqual([2000]);
  expect(list.problem).toBe("1 of its tools is left out: malformed, or with a schema that is too large.");
});

test("limits the total size of schemas", () => {
  const inputSchema = { type: "object", description: "y".repeat(30_000) };
  const list = listOf(...Array.from({ length: 20 }, (_, at) => ({ name: `t${at}`, inputSchema })));
  expect(list.isFull).toBe(true);
  expect(list.tools).toHaveLength(8);
  expect(list.problem).toContain("the first 8 are used");
});

function names(...origins: readonly [string, string][]): string[] {
  return nameTools(origins.map(([server, tool]) => ({ server, tool })));
}

test("names a tool after its server and itself", () => {
  expect(names(["notes", "read"], ["notes", "read-all"])).toEqual([
    "mcp__notes__read",
    "mcp__notes__read-all",
  ]);
});

test("replaces characters that models do not accept in a name", () => {
  expect(names(["My Notes!", "read.file"], ["_", "ö"])).toEqual([
    "mcp__My_Notes__read_file",
    "mcp__server___",
  ]);
});

test("prefers the exact name if two names would be equal, in any order", () => {
  const [exact, dotted] = names(["notes", "read_file"], ["notes", "read.file"]);
  expect(exact).toBe("mcp__notes__read_file");
  expect(dotted).toMatch(/^mcp__notes__read_file_[0-9a-f]{8}$/);
  expect(names(["notes", "read.file"], ["notes", "read_file"])).toEqual([dotted, exact]);
});

test("does not let a server take the name of another's tool", () => {
  expect(new Set(names(["a", "b__c"], ["a__b", "c"], ["a_", "_c"], ["a", "__c"])).size).toBe(4);
});

test("makes unique names that models accept for any tools", () => {
  const part = fc.oneof(fc.string({ maxLength: 90 }), fc.stringMatching(/^[ab_.]{0,5}$/));
  const origin: fc.Arbitrary<ToolOrigin> = fc.record({ server: part, tool: part });
  const origins = fc.uniqueArray(origin, { selector: ({ server, tool }) => JSON.stringify([server, tool]) });
  fc.assert(
    fc.property(origins, (all) => {
      const given = nameTools(all);
      expect(given.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
      expect(new Set(given).size).toBe(all.length);
      expect(nameTools(all.toReversed())).toEqual(given.toReversed());
    }),
  );
});
