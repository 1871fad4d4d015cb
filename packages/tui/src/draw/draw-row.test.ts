import type { Action } from "@flint/protocol";
import { approvalPrompt } from "@flint/view";
import { expect, test } from "vitest";
import { drawApproval } from "./draw-row.ts";
import { screenRows, textOf } from "./line.ts";

const look = { columns: 30, rows: 20, colour: false, unicode: true };
const shown = (action: Action) =>
  screenRows(drawApproval(approvalPrompt(action), look, "/repo"), look).map(textOf);

test("an approval shows the whole command, its folder and the reason [P36]", () => {
  const command = "echo one two three four five six\nrm\u00a0-rf \u202e/";
  expect(shown({ kind: "command", itemId: "c", cwd: "/repo/a", command, reason: "it is unknown" })).toEqual([
    "▸ The agent wants to run a",
    "    command",
    "  in /repo/a",
    "  $ echo one two three four",
    "    five six",
    "    rm\\u{a0}-rf \\u{202e}/",
    "  Reason: it is unknown",
  ]);
});

test("an approval shows the whole diff of a change", () => {
  const diff = `@@ -0,0 +1,100 @@\n${"+line\n".repeat(100)}`;
  const rows = shown({ kind: "fileChange", itemId: "f", changes: [{ path: "/repo/a", kind: "add", diff }] });
  expect(rows.filter((row) => row === "  +line")).toHaveLength(100);
  expect(rows).toContain("  Add a +100");
});

test("an approval shows all arguments of a tool", () => {
  expect(
    shown({ kind: "tool", itemId: "t", server: "mail", tool: "send", arguments: { to: "a\tb" } }),
  ).toEqual(["▸ The agent wants to call a", "    tool", "  mail.send", "  {", '    "to": "a\\tb"', "  }"]);
});
