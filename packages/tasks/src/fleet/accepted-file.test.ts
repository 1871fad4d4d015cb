import { readFileSync } from "node:fs";
import type { TaskEvent } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SmallDisk } from "../testing/small-disk.ts";
import { testSpec } from "../testing/spec.ts";
import { AcceptedFile } from "./accepted-file.ts";

const added: TaskEvent = {
  type: "task/added",
  ...{ version: 1, at: 1, data: { spec: testSpec(), number: 1, by: "ann", waiting: false } },
};

describe("the file of accepted tasks", () => {
  test("has exactly what was acknowledged after the disk was full", async () => {
    const path = (await temporaryFolder()).join("tasks/accepted.jsonl");
    const disk = new SmallDisk();
    const file = await AcceptedFile.open(path, { files: disk.files });
    const accept = (task: string) => file.append([{ task, events: [added] }]);
    accept("a");
    for (let room = 0; room < 300; room += 50) {
      disk.room = room;
      expect(() => accept("lost")).toThrow("the disk is full");
    }
    disk.room = Number.POSITIVE_INFINITY;
    accept("b");
    file.close();
    const { stored } = await AcceptedFile.open(path);
    expect([...stored]).toEqual([
      ["a", [added]],
      ["b", [added]],
    ]);
  });

  test("is rewritten without tasks that are forgotten", async () => {
    const path = (await temporaryFolder()).join("tasks/accepted.jsonl");
    const open = () => AcceptedFile.open(path, { compactFrom: 10 });
    const file = await open();
    const kept = [{ task: "kept", events: [added] }];
    file.append(kept);
    for (let index = 0; index < 50; index += 1) {
      file.append([{ task: `task-${index}`, events: [added] }]);
      file.forget(`task-${index}`, () => kept);
    }
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(20);
    file.close();
    expect([...(await open()).stored]).toEqual([["kept", [added]]]);
  });

  test("has a task that was accepted again after it was forgotten", async () => {
    const path = (await temporaryFolder()).join("tasks/accepted.jsonl");
    const file = await AcceptedFile.open(path);
    file.append([{ task: "a", events: [added] }]);
    file.forget("a", () => []);
    file.append([{ task: "a", events: [added] }]);
    file.close();
    expect([...(await AcceptedFile.open(path)).stored]).toEqual([["a", [added]]]);
  });
});
