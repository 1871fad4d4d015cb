import { expect, test } from "vitest";
import * as z from "zod/mini";
import { TaskRemote } from "./task-spec.ts";

test.each(["", "packages/core", "a", ".hidden", "..dots", "a/./b/", "a//b", "…/ü"])(
  "a task's folder in the repository can be %j",
  (folder) => {
    expect(z.safeParse(TaskRemote, { url: "origin", folder }).success).toBe(true);
  },
);

test.each(["/", "/etc", "..", "../a", "a/..", "a/../b", "a/../../b", "a\0b"])(
  "a task's folder in the repository cannot be %j",
  (folder) => {
    expect(z.safeParse(TaskRemote, { url: "origin", folder }).success).toBe(false);
  },
);
