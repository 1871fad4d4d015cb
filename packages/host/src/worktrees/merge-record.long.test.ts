import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { type MergeRequest, mergeResult } from "./merge.ts";
import { commitWork, mergeOf, setUpRepository } from "./testing/worktree-fixture.ts";

const confined = needs("bwrap");

/** Sets up an attempt in a repository whose main branch is not checked out. */
async function setUp() {
  const setup = await setUpRepository();
  const { worktree, made } = await commitWork(setup, "new\n");
  await setup.git("checkout", "-q", "--detach");
  const command = setup.worktrees.git(setup.cwd);
  const merge = (change: Partial<MergeRequest> = {}) =>
    mergeResult(command, mergeOf(worktree.base, made.commit, change));
  const heads = () => setup.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads");
  return { ...setup, merge, made, heads };
}

describe("a result whose worker died after the merge", () => {
  for (const mode of ["branch", "squash", "rebase", "merge"] as const)
    confined(`is not merged twice by ${mode}`, async () => {
      const { merge, heads, git } = await setUp();
      // Not a fast-forward.
      await git(
        "update-ref",
        "refs/heads/main",
        await git("commit-tree", "-p", "main", "-m", "x", "main^{tree}"),
      );
      const first = await merge({ mode });
      const before = await heads();
      expect(await merge({ mode })).toEqual({ ...first, isRepeated: true });
      expect(await heads()).toBe(before);
    });

  confined("is not merged twice if its branch could not be moved, or was merged by hand since", async () => {
    const { merge, git, heads } = await setUp();
    await git("checkout", "-q", "main");
    const first = await merge();
    expect(first).toMatchObject({
      ref: "refs/heads/flint/port-it",
      note: expect.stringContaining("--ff-only"),
    });
    await git("merge", "-q", "--ff-only", "flint/port-it");
    await git("branch", "-q", "-d", "flint/port-it");
    await git("commit", "-q", "--allow-empty", "-m", "later");
    const before = await heads();
    expect(await merge()).toEqual({ ...first, isRepeated: true });
    expect(await heads()).toBe(before);
  });

  confined("is merged if the branch did not get what was recorded", async () => {
    const { merge, git } = await setUp();
    const before = await git("rev-parse", "main");
    await merge();
    await git("update-ref", "refs/heads/main", before);
    expect(await merge()).not.toHaveProperty("isRepeated");
    expect(await git("log", "--format=%s", "main")).toBe("Port it\nfirst");
  });
});

confined("two runs that merge the same result at once merge it once", async () => {
  const { merge, git } = await setUp();
  let other: unknown;
  const verify = async () => {
    other ??= await merge();
    return true;
  };
  const late = await merge({ verify });
  expect(late).toMatchObject({ kind: "merged", isRepeated: true });
  expect(other).toMatchObject({ kind: "merged", ref: "refs/heads/main" });
  expect(await git("log", "--format=%s", "main")).toBe("Port it\nfirst");
});

confined("another result of the same attempt is merged as well", async () => {
  const { merge, git, made } = await setUp();
  await merge();
  const more = await git("commit-tree", "-p", made.commit, "-m", "more", "HEAD^{tree}");
  const record = `refs/flint/tasks/task-1/a1/merged/${more}`;
  expect(await merge({ commit: more, record, mode: "branch" })).toMatchObject({ commit: more });
});
