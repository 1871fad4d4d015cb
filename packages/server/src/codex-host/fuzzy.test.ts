import { describe, expect, test } from "vitest";
import { fuzzyMatch } from "./fuzzy.ts";

const PATHS = ["src/server/main.ts", "src/maintenance/notes.md", "docs/arm-in.txt", "readme.md"];

function best(query: string): string | undefined {
  const found = PATHS.flatMap((path) => {
    const match = fuzzyMatch(query, path);
    return match === undefined ? [] : [{ path, score: match.score }];
  });
  return found.sort((left, right) => right.score - left.score)[0]?.path;
}

describe("what is typed to find a file", () => {
  test.each([
    ["main", "src/server/main.ts"],
    ["MAINTS", "src/server/main.ts"],
    ["mnotes", "src/maintenance/notes.md"],
    ["read", "readme.md"],
    ["arm in", "docs/arm-in.txt"],
  ])("%s finds %s first", (query, path) => expect(best(query)).toBe(path));

  test("needs all its letters in their order", () => {
    expect(fuzzyMatch("xyz", "readme.md")).toBeUndefined();
    expect(fuzzyMatch("daer", "readme.md")).toBeUndefined();
  });

  test("says which letters it found", () => {
    expect(fuzzyMatch("rd", "readme.md")?.indices).toEqual([0, 8]);
    expect(fuzzyMatch("", "readme.md")?.indices).toEqual([]);
  });

  test("finds nothing before the beginning", () => {
    expect(fuzzyMatch("rr", "readme.md")).toBeUndefined();
  });
});
