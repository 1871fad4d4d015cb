import type { Action, SandboxPolicy } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { isWithinSandbox } from "./sandbox-bounds.ts";

const WRITE: SandboxPolicy = { type: "workspaceWrite" };
const WORKSPACE = {
  project: "/project",
  realPath: (path: string) => path.replace("/project/link", "/elsewhere").replace(/^\/more/, "/real/more"),
};

const command: Action = { kind: "command", itemId: "i", command: "make", cwd: "/project" };
const edit = (...paths: string[]): Action => ({
  ...{ kind: "fileChange", itemId: "i" },
  changes: paths.map((path) => ({ path, kind: "modify", diff: "" })),
});
const stays = (action: Action, policy: SandboxPolicy = WRITE) => isWithinSandbox(action, WORKSPACE, policy);

describe("what stays in the sandbox", () => {
  test("is a command that needs no more", () => {
    expect(stays(command)).toBe(true);
    expect(stays(command, { type: "readOnly" })).toBe(true);
    expect(stays({ ...command, needs: { write: ["/other"] } })).toBe(false);
    expect(stays({ ...command, needs: { unconfined: true } })).toBe(false);
  });

  test("is an edit of plain files in the folders that it may write", () => {
    const roots = { ...WRITE, writableRoots: ["/more"] };
    expect(stays(edit("src/a.ts"))).toBe(true);
    expect(stays(edit("/project/a", "/more/b"), roots)).toBe(true);
    for (const action of [
      edit("/more/b"),
      edit("a", "/etc/passwd"),
      edit(".github/x"),
      edit("link/x"),
      edit(),
    ])
      expect(stays(action)).toBe(false);
    expect(stays(edit("/more/.ssh/config"), roots)).toBe(false);
    expect(stays(edit("a"), { type: "readOnly" })).toBe(false);
  });

  test("is no tool, of which the sandbox knows nothing", () => {
    expect(stays({ kind: "tool", itemId: "i", tool: "fetch" })).toBe(false);
  });

  test.each([
    { type: "dangerFullAccess" },
    { type: "externalSandbox" },
    { type: "readOnly", whenApproved: "workspaceWrite" },
  ] as const)("is nothing where the sandbox does not hold commands back: %j", (policy) => {
    expect([command, edit("a")].filter((action) => stays(action, policy))).toEqual([]);
  });
});
