import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Action, ThreadSettings } from "@flint/protocol";
import { agentFolder, needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { realClaude, run } from "../claude/testing/claude-fixture.ts";
import { testSettings } from "../testing/session-spec.ts";
import { withSandboxNote } from "./outside-changes.ts";

async function fixture(changes: Partial<ThreadSettings> = {}) {
  const { path: folder } = await agentFolder();
  const [cwd, outside] = [join(folder, "work"), join(folder, "outside")];
  await Promise.all([mkdir(cwd), mkdir(outside)]);
  await symlink(outside, join(cwd, "link"));
  const settings = testSettings("claude/default", cwd, { approvalPolicy: "unlessTrusted", ...changes });
  return { outside, settings };
}

const change = (path: string): Action => ({
  ...{ kind: "fileChange", itemId: "i" },
  changes: [{ path, kind: "add", diff: "+x\n" }],
});

test("a change outside of the roots says that it will fail, and what would allow it", async () => {
  const { outside, settings } = await fixture();
  const note = `The sandbox does not let the agent write ${outside}, so this change will fail. --add-dir ${outside} allows it.`;
  for (const path of [join(outside, "new", "x"), "../outside/x", "link/x"])
    expect(await withSandboxNote(change(path), settings)).toEqual({ ...change(path), reason: note });
  const inside = change("new/x");
  expect(await withSandboxNote(inside, settings)).toBe(inside);
  const open: ThreadSettings = {
    ...settings,
    sandboxPolicy: { type: "workspaceWrite", writableRoots: [outside] },
  };
  expect(await withSandboxNote(change(join(outside, "x")), open)).not.toHaveProperty("reason");
});

test("with approvals off it asks for the folder, so that the policy declines it with the option", async () => {
  const { outside, settings } = await fixture({ approvalPolicy: "never" });
  expect(await withSandboxNote(change("../outside/x"), settings)).toMatchObject({
    needs: { write: [outside] },
  });
});

needs("claude")("the user reads it in the question about a file that Claude wants to write", async () => {
  const fixture = await realClaude({
    script: ({ workspace }) => [
      [{ call: "Write", input: { file_path: join(workspace, "..", "outside.txt"), content: "x\n" } }],
      [{ text: "Done." }],
    ],
  });
  const { turn } = await run(fixture, "go");
  expect(turn.actions).toMatchObject([
    { kind: "fileChange", reason: expect.stringContaining("so this change will fail. --add-dir") },
  ]);
});
