import { expect, test } from "vitest";
import { caseIdsIn, citationsIn } from "./citations.ts";

const ids = (source: string) => citationsIn(source).ids;

test("a citation in a title counts, alone, in a list and as a range", () => {
  expect(ids(`test("starts [S0-13]", () => {})`)).toEqual(["S0-13"]);
  expect(ids(`it('ends [S0-13, P07]', body)`)).toEqual(["S0-13", "P07"]);
  expect(ids("test(`all [S0-9..12] and [P08..10]`, body)")).toEqual(
    "S0-9 S0-10 S0-11 S0-12 P08 P09 P10".split(" "),
  );
});

test("what needs a part of the machine counts as any test does", () => {
  expect(ids(`needs("codex")("works [S1-2]", body)`)).toEqual(["S1-2"]);
});

test("so does a test under a name that a file gives it, and it cannot be switched off either", () => {
  const source = `const real = needs("codex");\nreal("works [S1-2]", body);\nreal.skip("rests", body);`;
  expect(citationsIn(source)).toMatchObject({ ids: ["S1-2"], switchedOff: [3] });
  expect(ids(`const other = makes("codex"); other("works [S1-2]", body)`)).toEqual([]);
});

test("the ids given to verifies count, and so does its title", () => {
  expect(ids(`verifies("S1-2", "works", body)`)).toEqual(["S1-2"]);
  expect(ids(`verifies(["S1-2", 'S1-4..5'], "works [P01]", body)`)).toEqual(["S1-2", "S1-4", "S1-5", "P01"]);
});

test("titles of tables and titles in two parts count", () => {
  expect(ids(`test.each([["a [S0-1]", 1]])("b %s [S0-2]", body)`)).toEqual(["S0-1", "S0-2"]);
  expect(ids("test(`$" + "{name}` + ' [S0-3]', body)")).toEqual(["S0-3"]);
});

test("a citation in a comment, a body or any other string does not count", () => {
  expect(ids(`// test("starts [S0-13]", body)`)).toEqual([]);
  expect(ids(`/* verifies("S0-13", "x", body) */ test("plain", body) // [S0-13]`)).toEqual([]);
  expect(ids(`test("plain", () => { expect("[S0-13]").toBe(list[0]) })`)).toEqual([]);
  expect(ids(`regex.test("[S0-13]")`)).toEqual([]);
  expect(ids(`const sample = 'test("starts [S0-13]", body)'`)).toEqual([]);
});

test("a slip in a citation is kept, so that it can be reported", () => {
  expect(ids(`test("a [S0-999] b [S7-1] c [P7] d [S0-5..] e [S0-9..3]", body)`)).toEqual(
    "S0-999 S7-1 P7 S0-5.. S0-9..3".split(" "),
  );
});

test("brackets around anything but an id are not a citation", () => {
  expect(ids(`test("reads [S0-1 and more] and [] and [x, y]", body)`)).toEqual([]);
});

test("tests that are switched off are found by line", () => {
  expect(citationsIn(`\ntest.skip("a", body)\ndescribe.only("b", body)\nit.todo("c")`).switchedOff).toEqual([
    2, 3, 4,
  ]);
  expect(citationsIn(`test.each(rows)("a", body); test.skipIf(x)("b", body)`).switchedOff).toEqual([]);
});

test("an id in the title of a group is not a citation", () => {
  const found = citationsIn(
    `describe("all [S0-1]", () => { test("one [S0-2]", body) }); describe.each(x)("[P01]", y)`,
  );
  expect([found.ids, found.ofGroups]).toEqual([["S0-2"], ["S0-1", "P01"]]);
});

test("tests with an empty body are found by line", () => {
  const source = `test("a [S0-1]", () => {});
    test.each(rows)("b", async ({ skip }) => { /* later */ });
    verifies("S0-2", "c", () => {});
    needs("codex")("d", () => {}, 90_000);
    test("e", () => { expect(1).toBe(1); });
    test("f", body);`;
  expect(citationsIn(source).empty).toEqual([1, 2, 3, 4]);
});

test("a torture case names itself by id", () => {
  expect(caseIdsIn(`const a = { id: "P07", run } // id: "P08"\nconst b = { name: "P09" }`)).toEqual(["P07"]);
});
