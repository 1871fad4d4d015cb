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
    const file = await AcceptedFile.open(path, disk.files);
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
});
