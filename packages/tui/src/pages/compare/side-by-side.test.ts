import { expect, test } from "vitest";
import { type Line, textOf } from "../../draw/line.ts";
import { belowEachOther, sideBySide } from "./side-by-side.ts";

const textsOf = (lines: readonly Line[] | undefined) => lines?.map(textOf).join("\n");

const diffOf = (file: string, ...lines: string[]) =>
  [
    `diff --git a/${file} b/${file}`,
    "index 5626abf..f719efd 100644",
    `--- a/${file}`,
    `+++ b/${file}`,
    "@@ -1 +1 @@",
    ...lines,
    "",
  ].join("\n");

test("diffs are beside each other, file by file, and long lines continue below", () => {
  const claude = diffOf("a.txt", "-one", "+--- two") + diffOf("b.txt", `+${"x".repeat(50)}`);
  const codex = diffOf("a.txt", "-one", "+日本\u001b[31m");
  const lines = sideBySide(
    [
      { title: "claude", diff: claude },
      { title: "codex", diff: codex },
    ],
    83,
  );
  const shown = textsOf(lines);
  expect(shown).not.toContain("\u001b");
  expect(shown?.split("\n").map((line) => line.replace(/ +│/, " │").trimEnd())).toEqual([
    "claude │ codex",
    `${"─".repeat(40)}─┼─${"─".repeat(40)}`,
    "a.txt │ a.txt",
    "@@ -1 +1 @@ │ @@ -1 +1 @@",
    "-one │ -one",
    expect.stringContaining("+--- two │ +日本"),
    `${"─".repeat(40)}─┼─${"─".repeat(40)}`,
    "b.txt │ b.txt",
    "@@ -1 +1 @@ │ (unchanged)",
    `+${"x".repeat(39)} │`,
    `${"x".repeat(11)} │`,
    `${"─".repeat(40)}─┼─${"─".repeat(40)}`,
  ]);
});

test("a file whose name reads like that of another does not hide its changes", () => {
  const diff = diffOf("a.txt", "+planted") + diffOf("x b/a.txt", "+fine");
  const shown = textsOf(sideBySide([{ title: "claude", diff }], 40));
  expect(shown).toMatch(/\+planted[\s\S]*\+fine/);
});

test("columns that would be too narrow are not drawn", () => {
  const diffs = ["claude", "codex", "flint"].map((title) => ({ title, diff: "" }));
  expect(sideBySide(diffs, 100)).toBeUndefined();
  expect(textsOf(sideBySide(diffs, 120))).toContain("claude");
});

test("without room for columns, diffs are below each other, each with its title", () => {
  const lines = belowEachOther([
    { title: "claude", diff: diffOf("a.txt", "-one", "+uno") },
    { title: "codex", diff: "" },
  ]);
  expect(textsOf(lines)).toMatch(/^claude\ndiff --git a\/a\.txt[\s\S]*-one\n\+uno\n\ncodex\nno changes$/);
  expect(lines.filter(([first]) => first?.style === "green").map(textOf)).toEqual(["+++ b/a.txt", "+uno"]);
});
