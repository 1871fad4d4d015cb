import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Action, ThreadSettings } from "@flint/protocol";
import { agentFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { testSettings } from "../testing/session-spec.ts";
import { sandboxedChange } from "./outside-changes.ts";

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

test("a change outside of the roots needs the folder, which the agent's sandbox does not give it", async () => {
  const { outside, settings } = await fixture();
  for (const path of [join(outside, "new", "x"), "../outside/x", "link/x"])
    expect(await sandboxedChange(change(path), settings)).toEqual({
      action: { ...change(path), needs: { write: [outside] } },
      guarantees: { changesInSandbox: true },
    });
  const inside = change("new/x");
  expect(await sandboxedChange(inside, settings)).toEqual({ action: inside, guarantees: {} });
  const open: ThreadSettings = {
    ...settings,
    sandboxPolicy: { type: "workspaceWrite", writableRoots: [outside] },
  };
  expect((await sandboxedChange(change(join(outside, "x")), open)).action).not.toHaveProperty("needs");
});

test("an agent that resumes no session is asked about with a note that the change will fail", async () => {
  const { outside, settings } = await fixture();
  const asked = change(join(outside, "x"));
  const reason = `The sandbox does not let the agent write ${outside}, so this change will fail. --add-dir ${outside} allows it, but not in this session: the agent cannot resume one.`;
  expect(await sandboxedChange(asked, settings, false)).toEqual({
    action: { ...asked, reason },
    guarantees: {},
  });
});

test("with approvals off it asks for the folder, so that the policy declines it with the option", async () => {
  const { outside, settings } = await fixture({ approvalPolicy: "never" });
  for (const canResume of [true, false]) {
    const { action } = await sandboxedChange(change("../outside/x"), settings, canResume);
    expect(action).toMatchObject({ needs: { write: [outside] } });
  }
});
