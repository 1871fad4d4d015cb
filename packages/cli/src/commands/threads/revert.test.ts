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

test("reports what was not saved in one line per reason, with a few names", () => {
  const notSaved = [
    ...["a", "b", "c", "d", "e"].map(ignored),
    { path: "big", reason: "tooLarge", message: "It is too large." } as const,
  ];
  const result = { thread, turnIds: ["u1"], files: [], conflicts: [], notSaved };
  expect(revertReport(result, { files: "restore", preview: true, undo: false })).toBe(
    [
      "1 turn would be undone",
      "not saved  5 items (a, b, c and 2 more): Git ignores it, so it was not saved.",
      "not saved  big It is too large.",
      "",
    ].join("\n"),
  );
});

test("reports that files are unchanged, and how to undo the revert", () => {
  const result = { thread, turnIds: ["u1", "u2"], revertId: "r1" };
  expect(revertReport(result, { files: "keep", preview: false, undo: false })).toBe(
    "2 turns undone\nFiles are unchanged; --files restore would restore them too.\n" +
      "Undo: flint threads revert t1 --undo last\n",
  );
});

test("reports the turns that an undo restored", () => {
  const back = (turnIds: string[]) =>
    revertReport(
      { thread, turnIds, files: [], conflicts: [], notSaved: [] },
      { files: "keep", preview: false, undo: true },
    );
  expect([back(["u1"]), back(["u1", "u2"])]).toEqual(["1 turn restored\n", "2 turns restored\n"]);
  expect(back([])).toContain("has new turns, so only files were restored");
});
