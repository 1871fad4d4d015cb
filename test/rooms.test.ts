import { dirname } from "node:path";
import { expect, test } from "vitest";
import { packageNames, ROOT, readSources } from "./source/files.ts";

/** More files than this hide the parts of a folder. */
const MOST_SIBLINGS = 15;

test("no folder has more source files than a reader can take in", () => {
  const folders = [...packageNames(ROOT).map((name) => `packages/${name}/src`), "bench", "scripts", "test"];
  expect(crowded(folders.flatMap((folder) => [...readSources(ROOT, folder).keys()]))).toEqual([]);
});

test("a crowded folder is named, and tests and recorded fixtures do not count", () => {
  const sixteen = Array.from({ length: 16 }, (_, index) => `a/part-${index}.ts`);
  expect(crowded(sixteen)).toEqual(["a: 16"]);
  expect(crowded([...sixteen.slice(1), "a/part.test.ts", "a/fixtures/x.ts", "a/b/c.ts"])).toEqual([]);
});

function crowded(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths.filter((each) => !/\.test\.ts$|\/fixtures\//.test(each))) {
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MOST_SIBLINGS)
    .map(([folder, count]) => `${folder}: ${count}`);
}
