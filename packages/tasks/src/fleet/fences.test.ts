import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { Fences } from "./fences.ts";

test("fences are remembered over restarts, also after a line was cut off", async () => {
  const { path: folder } = await temporaryFolder();
  const path = `${folder}/tasks/fences.jsonl`;
  const first = await Fences.open(path);
  first.remember("a", 3);
  first.remember("b", 1);
  first.remember("a", 5);
  first.close();
  appendFileSync(path, '{"task":"c","fen');
  const second = await Fences.open(path);
  second.remember("c", 2);
  second.close();
  const third = await Fences.open(path);
  expect(["a", "b", "c", "d"].map((task) => third.highest(task))).toEqual([5, 1, 2, 0]);
  third.close();
});

test("a file that has grown long is written again with the tasks that ran last", async () => {
  const { path: folder } = await temporaryFolder();
  const path = `${folder}/fences.jsonl`;
  const line = (index: number) => JSON.stringify({ task: `t${index}`, fence: 1 });
  writeFileSync(path, Array.from({ length: 40_001 }, (_, index) => line(index)).join("\n"));
  const fences = await Fences.open(path);
  fences.close();
  expect(["t0", "t30000", "t30001", "t40000"].map((task) => fences.highest(task))).toEqual([0, 0, 1, 1]);
  expect(readFileSync(path, "utf8").trim().split(/\n+/)).toHaveLength(10_000);
});

test("a file that cannot be read is not taken for an empty one", async () => {
  const { path: folder } = await temporaryFolder();
  await expect(Fences.open(folder)).rejects.toThrow("EISDIR");
});
