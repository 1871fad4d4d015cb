import type { Action, Approval, FileUpdateChange } from "@flint/protocol";
import { expect, test } from "vitest";
import { coveringGrants } from "./grants.ts";
import { lateGrant } from "./late-answers.ts";

const NOW = 1_000_000;
const ACTOR = { project: "/repo", agent: "claude", realPath: (path: string) => path };
const CHANGE: FileUpdateChange = { path: "/repo/a.txt", kind: "modify", diff: "@@ -1 +1 @@\n-one\n+two\n" };

function changing(...changes: FileUpdateChange[]): Action {
  return { kind: "fileChange", itemId: "item", changes };
}

/** Answers the approval of this action after it has expired. */
function answeredLate(action: Action) {
  const times = { requestedAtMs: NOW, expiresAtMs: NOW };
  const approval: Approval = { id: "approval", turnId: "turn", ...times, action, ...ACTOR };
  return lateGrant(
    { lapsedApprovals: [approval] },
    "approval",
    { outcome: "allow", scope: "once" },
    NOW + 1000,
  );
}

function covers(action: Action, asked: Action): boolean {
  const grant = answeredLate(asked);
  return grant !== undefined && coveringGrants(action, ACTOR, [grant], NOW + 2000) !== undefined;
}

test("a late answer allows exactly the change that was shown, of all its files, once", () => {
  const other: FileUpdateChange = { path: "/repo/b.txt", kind: "add", diff: "@@ -0,0 +1 @@\n+b\n" };
  const asked = changing(CHANGE, other);
  expect(answeredLate(asked)).toMatchObject({
    ...{ scope: "once", agent: "claude", project: "/repo" },
    words: "change /repo/a.txt, /repo/b.txt exactly as shown",
  });
  expect(covers(asked, asked)).toBe(true);
  expect(covers(changing(CHANGE), asked)).toBe(false);
  expect(covers(changing(CHANGE, other), changing(CHANGE))).toBe(false);
  expect(covers(changing({ ...CHANGE, diff: `${CHANGE.diff}+three\n` }), changing(CHANGE))).toBe(false);
  expect(covers(changing({ ...CHANGE, path: "/repo/c.txt" }), changing(CHANGE))).toBe(false);
});

test("a late answer about a call of a tool allows nothing", () => {
  expect(answeredLate({ kind: "tool", itemId: "item", tool: "search", arguments: {} })).toBeUndefined();
});
