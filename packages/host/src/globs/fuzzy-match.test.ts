import { describe, expect, test } from "vitest";
import { fuzzyMatch } from "./fuzzy-match.ts";

const PATHS = ["src/server/main.ts", "src/maintenance/notes.md", "docs/arm-in.txt", "readme.md"];

function best(query: string): string | undefined {
  const found = PATHS.flatMap((path) => {
    const match = fuzzyMatch(query, path);
    return match === undefined ? [] : [{ path, score: match.score }];
  });
  return found.sort((left, right) => right.score - left.score)[0]?.path;
}

describe("fuzzyMatch", () => {
  test.each([
    ["main", "src/server/main.ts"],
    ["MAINTS", "src/server/main.ts"],
    ["mnotes", "src/maintenance/notes.md"],
    ["read", "readme.md"],
    ["arm in", "docs/arm-in.txt"],
  ])("%s ranks %s first", (query, path) => expect(best(query)).toBe(path));

  test("requires all letters in order", () => {
    expect(fuzzyMatch("xyz", "readme.md")).toBeUndefined();
    expect(fuzzyMatch("daer", "readme.md")).toBeUndefined();
  });

  test("returns the indices of the matched letters", () => {
    expect(fuzzyMatch("rd", "readme.md")?.indices).toEqual([0, 8]);
    expect(fuzzyMatch("", "readme.md")?.indices).toEqual([]);
  });

  test("does not match one letter twice", () => {
    expect(fuzzyMatch("rr", "readme.md")).toBeUndefined();
  });
});
