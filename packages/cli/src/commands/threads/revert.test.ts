import { expect, test } from "vitest";
import { revertReport } from "./revert.ts";

const thread = {
  id: "t1",
  preview: "",
  modelProvider: "flint",
  model: "flint/offline",
  createdAt: 0,
  updatedAt: 0,
  cwd: "/w",
  status: { type: "idle" },
  archived: false,
  ephemeral: false,
} as const;

const ignored = (path: string) =>
  ({ path, reason: "ignored", message: "Git ignores it, so it was not saved." }) as const;

test("what was not saved is one line for each reason, with a few names", () => {
  const notSaved = [
    ...["a", "b", "c", "d", "e"].map(ignored),
    { path: "big", reason: "tooLarge", message: "It is too large." } as const,
  ];
  const result = { thread, turnIds: ["u1"], files: [], conflicts: [], notSaved };
  expect(revertReport(result, { files: "restore", preview: true, undo: false })).toBe(
    [
      "1 turn would be dropped",
      "not saved  5 times (a, b, c and 2 more): Git ignores it, so it was not saved.",
      "not saved  big It is too large.",
      "",
    ].join("\n"),
  );
});

test("a revert that keeps the files says so, and how it is taken back", () => {
  const result = { thread, turnIds: ["u1", "u2"], revertId: "r1" };
  expect(revertReport(result, { files: "keep", preview: false, undo: false })).toBe(
    "2 turns dropped\nFiles stay as they are; --files restore puts them back too.\n" +
      "Take it back: flint threads revert t1 --undo last\n",
  );
});

test("one turn is back, several are", () => {
  const back = (turnIds: string[]) =>
    revertReport(
      { thread, turnIds, files: [], conflicts: [], notSaved: [] },
      { files: "keep", preview: false, undo: true },
    );
  expect([back(["u1"]), back(["u1", "u2"])]).toEqual(["1 turn is back\n", "2 turns are back\n"]);
  expect(back([])).toContain("gone on since");
});
