import { expect, test } from "vitest";
import { approvalBlock } from "./approval-block.ts";
import { textOf } from "./line.ts";
import { rowsOf } from "./wrap.ts";

const look = { columns: 30, rows: 20, colour: false, unicode: true };
const shown = (action: Parameters<typeof approvalBlock>[0]) =>
  rowsOf(approvalBlock(action, look, "/repo"), look).map(textOf);

test("a command is shown whole, with its folder and the reason [P36]", () => {
  const command = "echo one two three four five six\nrm\u00a0-rf \u202e/";
  expect(shown({ kind: "command", itemId: "c", cwd: "/repo/a", command, reason: "it is unknown" })).toEqual([
    "▸ The agent wants to run a",
    "    command",
    "  in /repo/a",
    "  $ echo one two three four",
    "    five six",
    "    rm\\u{a0}-rf \\u{202e}/",
    "  Why: it is unknown",
  ]);
});

test("a change is shown with all of its diff, however long", () => {
  const diff = `@@ -0,0 +1,100 @@\n${"+line\n".repeat(100)}`;
  const rows = shown({ kind: "fileChange", itemId: "f", changes: [{ path: "/repo/a", kind: "add", diff }] });
  expect(rows.filter((row) => row === "  +line")).toHaveLength(100);
  expect(rows).toContain("  add a +100");
});

test("a tool is shown with all of its arguments", () => {
  expect(
    shown({ kind: "tool", itemId: "t", server: "mail", tool: "send", arguments: { to: "a\tb" } }),
  ).toEqual(["▸ The agent wants to call a", "    tool", "  mail.send", "  {", '    "to": "a\\tb"', "  }"]);
});
