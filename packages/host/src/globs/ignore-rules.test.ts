import { describe, expect, test } from "vitest";
import { IgnoreRules } from "./ignore-rules.ts";

/** The paths that a file at the top of `/repo` ignores. */
function ignored(text: string, ...paths: string[]): string[] {
  const rules = IgnoreRules.none.with("/repo", text);
  return paths.filter((path) => rules.ignores(`/repo/${path.replace(/\/$/, "")}`, path.endsWith("/")));
}

describe("a .gitignore", () => {
  test.each([
    ["ignores a name at any depth", "build", ["build", "a/build", "a/b/build/"], ["builds", "a/rebuild"]],
    ["ignores only folders if the name ends in a slash", "build/", ["build/", "a/build/"], ["build"]],
    ["anchors a pattern with a leading slash to the folder of the file", "/build", ["build"], ["a/build"]],
    ["anchors a pattern with a slash in the middle", "a/b", ["a/b"], ["x/a/b", "a/x/b"]],
    ["matches a star within a name", "*.log", ["x.log", "a/.log"], ["x.logs", "log"]],
    ["matches a star within a name of an anchored pattern", "a/*.log", ["a/x.log"], ["a/b/x.log"]],
    ["matches two stars across any number of folders", "a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["b/z", "a/b"]],
    ["matches two stars at the start", "**/z", ["z", "a/b/z"], ["zz"]],
    ["matches everything below with two stars at the end", "a/**", ["a/b", "a/b/c"], ["a/", "b/a/c"]],
    ["matches a question mark with one character", "?.js", ["a.js"], [".js", "ab.js"]],
    ["matches brackets with one of several characters", "[a-cx].js", ["b.js", "x.js"], ["d.js", "-.js"]],
    ["matches negated brackets with any other character", "[!a].js", ["b.js"], ["a.js"]],
    ["treats an unclosed bracket as literal", "[ab", ["[ab"], ["a"]],
    ["treats a character after a backslash as literal", "\\*.js\n\\#x\n\\!y", ["*.js", "#x", "!y"], ["a.js"]],
    ["skips comments, empty lines and trailing spaces", "# build\n\nout  \n", ["out"], ["build"]],
    ["accepts CRLF line endings", "out\r\nin\r\n", ["out", "in"], []],
    ["skips a byte order mark", "\ufeffout\n", ["out"], []],
    ["keeps an escaped trailing space", "out\\ \n", ["out "], ["out"]],
    ["treats braces as literal", "{a,b}", ["{a,b}"], ["a", "b"]],
    ["keeps a leading space", " out", [" out"], ["out"]],
    ["ignores an anchored folder only as a folder", "/a/b/", ["a/b/"], ["a/b", "x/a/b/"]],
    ["matches names that are not valid UTF-8", "*.log\n?.x", ["\udcff.log", "\udcff.x"], ["\udcff"]],
  ])("%s", (_name, text, yes, no) => {
    expect(ignored(text, ...yes, ...no)).toEqual(yes);
  });

  test("lets a later line override an earlier one", () => {
    expect(ignored("*.log\n!kept.log\n", "a.log", "kept.log")).toEqual(["a.log"]);
    expect(ignored("!kept.log\n*.log\n", "kept.log")).toEqual(["kept.log"]);
  });

  test("gives precedence to a deeper file, which applies to its own folder only", () => {
    const rules = IgnoreRules.none.with("/repo", "*.log\n").with("/repo/a", "!x.log\n/only\n");
    expect(rules.ignores("/repo/a/x.log", false)).toBe(false);
    expect(rules.ignores("/repo/a/y.log", false)).toBe(true);
    expect(rules.ignores("/repo/a/only", false)).toBe(true);
    expect(rules.ignores("/repo/a/b/only", false)).toBe(false);
  });

  test.each(["", "/"])("accepts %j as the prefix of all paths", (folder) => {
    const rules = IgnoreRules.none.with(folder, "/top\na/b\n");
    const paths = ["top", "a/b", "x/top", "x/a/b"].map((path) => folder + path);
    expect(paths.filter((path) => rules.ignores(path, false))).toEqual([`${folder}top`, `${folder}a/b`]);
  });

  test("is built from a text and the files above it", () => {
    const above = IgnoreRules.none.with("/repo", "x\n");
    const rules = above.with("/repo/a", "y\n");
    expect(rules.isBuiltFrom(above, "y\n")).toBe(true);
    expect(rules.isBuiltFrom(above, "z\n")).toBe(false);
    expect(rules.isBuiltFrom(IgnoreRules.none, "y\n")).toBe(false);
  });

  test("matches hostile patterns in linear time", () => {
    const started = performance.now();
    expect(ignored(`${"*a".repeat(200)}*b\n`.repeat(20), `${"a".repeat(250)}/`)).toEqual([]);
    expect(ignored(`${"**/a/".repeat(90)}**/b\n`.repeat(20), "a/".repeat(100))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
