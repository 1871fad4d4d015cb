import { describe, expect, test } from "vitest";
import { IgnoreRules } from "./ignore-rules.ts";

/** What is ignored by a file at the top of `/repo`. */
function ignored(text: string, ...paths: string[]): string[] {
  const rules = IgnoreRules.none.with("/repo", text);
  return paths.filter((path) => rules.ignores(`/repo/${path.replace(/\/$/, "")}`, path.endsWith("/")));
}

describe("a .gitignore", () => {
  test.each([
    ["a name is ignored at any depth", "build", ["build", "a/build", "a/b/build/"], ["builds", "a/rebuild"]],
    ["a name with a slash at its end is for folders only", "build/", ["build/", "a/build/"], ["build"]],
    ["a slash elsewhere binds to the place of the file", "/build", ["build"], ["a/build"]],
    ["also in the middle", "a/b", ["a/b"], ["x/a/b", "a/x/b"]],
    ["a star stays within a name", "*.log", ["x.log", "a/.log"], ["x.logs", "log"]],
    ["a star in a place as well", "a/*.log", ["a/x.log"], ["a/b/x.log"]],
    [
      "two stars go through folders, also through none",
      "a/**/z",
      ["a/z", "a/b/z", "a/b/c/z"],
      ["b/z", "a/b"],
    ],
    ["at the front", "**/z", ["z", "a/b/z"], ["zz"]],
    ["at the end they mean everything below", "a/**", ["a/b", "a/b/c"], ["a/", "b/a/c"]],
    ["a question mark is one sign", "?.js", ["a.js"], [".js", "ab.js"]],
    ["brackets are one sign of several", "[a-cx].js", ["b.js", "x.js"], ["d.js", "-.js"]],
    ["or one of all others", "[!a].js", ["b.js"], ["a.js"]],
    ["a bracket without an end means itself", "[ab", ["[ab"], ["a"]],
    ["a backslash makes a sign mean itself", "\\*.js\n\\#x\n\\!y", ["*.js", "#x", "!y"], ["a.js"]],
    ["comments, empty lines and spaces at the end say nothing", "# build\n\nout  \n", ["out"], ["build"]],
    ["lines may end as on Windows", "out\r\nin\r\n", ["out", "in"], []],
    ["a mark at the beginning that says how it is encoded is no part of a name", "\ufeffout\n", ["out"], []],
    ["a space at the end stays behind a backslash", "out\\ \n", ["out "], ["out"]],
    ["braces mean themselves", "{a,b}", ["{a,b}"], ["a", "b"]],
    ["what begins with a space does so in its name", " out", [" out"], ["out"]],
    ["a folder of a place is ignored as one", "/a/b/", ["a/b/"], ["a/b", "x/a/b/"]],
    ["names that are no text are names", "*.log\n?.x", ["\udcff.log", "\udcff.x"], ["\udcff"]],
  ])("%s", (_name, text, yes, no) => {
    expect(ignored(text, ...yes, ...no)).toEqual(yes);
  });

  test("a later line may bring back what an earlier one ignores, and be overruled again", () => {
    expect(ignored("*.log\n!kept.log\n", "a.log", "kept.log")).toEqual(["a.log"]);
    expect(ignored("!kept.log\n*.log\n", "kept.log")).toEqual(["kept.log"]);
  });

  test("a file further down is heard first, and knows only its own folder", () => {
    const rules = IgnoreRules.none.with("/repo", "*.log\n").with("/repo/a", "!x.log\n/only\n");
    expect(rules.ignores("/repo/a/x.log", false)).toBe(false);
    expect(rules.ignores("/repo/a/y.log", false)).toBe(true);
    expect(rules.ignores("/repo/a/only", false)).toBe(true);
    expect(rules.ignores("/repo/a/b/only", false)).toBe(false);
  });

  test.each(["", "/"])("may be in the folder %j, from which paths begin", (folder) => {
    const rules = IgnoreRules.none.with(folder, "/top\na/b\n");
    const paths = ["top", "a/b", "x/top", "x/a/b"].map((path) => folder + path);
    expect(paths.filter((path) => rules.ignores(path, false))).toEqual([`${folder}top`, `${folder}a/b`]);
  });

  test("is the same as another only with the same text and the same files above it", () => {
    const above = IgnoreRules.none.with("/repo", "x\n");
    const rules = above.with("/repo/a", "y\n");
    expect(rules.isMade(above, "y\n")).toBe(true);
    expect(rules.isMade(above, "z\n")).toBe(false);
    expect(rules.isMade(IgnoreRules.none, "y\n")).toBe(false);
  });

  test("that somebody made to be slow is not", () => {
    const started = performance.now();
    expect(ignored(`${"*a".repeat(200)}*b\n`.repeat(20), `${"a".repeat(250)}/`)).toEqual([]);
    expect(ignored(`${"**/a/".repeat(90)}**/b\n`.repeat(20), "a/".repeat(100))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
