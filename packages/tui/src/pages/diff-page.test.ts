import { expect, test } from "vitest";
import { textOf } from "../draw/line.ts";
import { diffPage } from "./diff-page.ts";

const diff = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
const item = {
  type: "fileChange",
  id: "i1",
  status: "completed",
  changes: [{ kind: "modify", path: "/a.txt", diff }],
} as const;

const known = [{ id: "u1", status: "completed" as const, items: [{ ...item, changes: [...item.changes] }] }];
const session = {
  turns: { known, isComplete: true, read: async () => known },
  ...{ settings: undefined, run: () => {}, changed: () => {} },
};

/** Returns the text of the page at a width. */
function shown(columns: number, ...commands: readonly "toggleSplit"[]): string[] {
  const page = diffPage(session);
  for (const command of commands) page.command(command);
  return page.draw({ columns, rows: 12, colour: false, unicode: true }).rows.map(textOf);
}

test("shows changes in one column, in two on request, and in one where two do not fit", () => {
  expect(shown(120).join("\n")).toContain("-two\n");
  expect(shown(120, "toggleSplit").find((line) => line.includes("two"))).toMatch(/two .*│ .*2/);
  expect(shown(120, "toggleSplit", "toggleSplit")).toEqual(shown(120));
  expect(shown(60, "toggleSplit")).toEqual(shown(60));
});
