import { expect, test } from "vitest";
import { UNKNOWN_CALL } from "../translate/tool-call.ts";
import { AllowedWork } from "./granted.ts";

const PLACE = { cwd: "/repo", diff: () => "" };

test("exactly the command that was allowed, in its folder, needs no second yes", () => {
  const allowed = new AllowedWork();
  allowed.note({ ...UNKNOWN_CALL, kind: "execute", rawInput: { command: "make", cwd: "sub" } }, PLACE);
  expect(allowed.hasCommand("make", "/repo/sub")).toBe(true);
  expect(allowed.hasCommand("make", "/repo")).toBe(false);
  expect(allowed.hasCommand("make all", "/repo/sub")).toBe(false);
  expect(allowed.hasCommand("PATH=/evil make", "/repo/sub")).toBe(false);
});

test("a part of a file that was shown is no yes to replace the whole file by it", () => {
  const allowed = new AllowedWork();
  const content = [{ type: "diff", path: "a.txt", oldText: "two", newText: "2" }];
  allowed.note({ ...UNKNOWN_CALL, kind: "edit", content }, PLACE);
  expect(allowed.hasWrite("/repo/a.txt", "two", "2")).toBe(true);
  expect(allowed.hasWrite("/repo/a.txt", "one\ntwo\n", "2")).toBe(false);
  expect(allowed.hasWrite("/repo/b.txt", "two", "2")).toBe(false);
});
