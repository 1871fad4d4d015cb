import type { Action, Decision } from "@flint/protocol";
import { expect, test } from "vitest";
import type { CommitOffer, DriverEvent } from "../ports/index.ts";
import { describeOffer, type TurnCommitsOptions, takeOverCommits } from "./commits.ts";

const REFS: CommitOffer["refs"] = [
  {
    name: "refs/heads/main",
    commits: [
      { id: "b".repeat(40), title: "add zod" },
      { id: "a".repeat(40), title: "fix the parser" },
    ],
    total: 2,
    change: "updated",
  },
];

const LATER = "To apply them later:\ngit merge refs/flint/in/t/heads/main";

/** A turn whose agent made commits, and a user who decides this. */
async function finish(
  options: Partial<TurnCommitsOptions> & {
    outcome?: Decision["outcome"];
    refused?: string;
    refs?: CommitOffer["refs"];
    blocked?: string;
    protectedPaths?: readonly string[];
  },
) {
  const events: DriverEvent[] = [];
  const asked: Action[] = [];
  let accepted = 0;
  const { outcome = "allow", refused, refs = REFS, blocked, protectedPaths = [], ...given } = options;
  const offer: CommitOffer = {
    ...(blocked === undefined ? {} : { blocked }),
    refs,
    diff: "diff --git a/a b/a\n",
    protectedPaths,
    accept: async () => {
      accepted += 1;
      return refused === undefined ? { notes: [] } : { refused, notes: [LATER] };
    },
    decline: async () => LATER,
  };
  await takeOverCommits({
    mode: "ask",
    commits: async () => offer,
    approve: async (action) => {
      asked.push(action);
      return { outcome, scope: "once" };
    },
    emit: (event) => events.push(event),
    ...given,
  });
  return { events, asked, accepted };
}

test("asks with the titles and the diff of the commits, and takes them over if they are allowed", async () => {
  const { events, asked, accepted } = await finish({});
  expect(asked).toMatchObject([
    {
      ...{ kind: "tool", tool: "git", needs: { git: true } },
      reason: "Apply 2 commits on main (add zod; fix the parser)?",
      arguments: { diff: "diff --git a/a b/a\n" },
    },
  ]);
  expect(events).toMatchObject([
    { type: "item/started", item: { status: "inProgress" } },
    { type: "item/completed", item: { status: "completed" } },
  ]);
  expect(accepted).toBe(1);
});

test("applies no declined commits and prints how to apply them later", async () => {
  const { events, accepted } = await finish({ outcome: "deny" });
  expect(events.at(-1)).toMatchObject({ item: { status: "declined", result: LATER } });
  expect(accepted).toBe(0);
});

test("does not ask in auto mode, and does not even look in off mode", async () => {
  const auto = await finish({ mode: "auto" });
  expect([auto.asked, auto.accepted]).toEqual([[], 1]);
  const commits = () => Promise.reject(new Error("looked"));
  expect(await finish({ mode: "off", commits })).toMatchObject({ events: [], asked: [] });
});

test.each(["deleted", "forced"] as const)("asks in auto mode, too, if a branch is %s", async (change) => {
  const refs = REFS.map((ref) => ({ ...ref, change }));
  expect(await finish({ mode: "auto", refs, outcome: "deny" })).toMatchObject({ asked: [{}], accepted: 0 });
  const remotes = refs.map((ref) => ({ ...ref, name: "refs/remotes/origin/main" }));
  expect(await finish({ mode: "auto", refs: remotes })).toMatchObject({ asked: [], accepted: 1 });
});

test("asks in auto mode, too, if protected files would change, and names them", async () => {
  const protectedPaths = [".husky/pre-commit", ".vscode/tasks\u001b.json"];
  const declined = await finish({ mode: "auto", protectedPaths, outcome: "deny" });
  const warning =
    "This changes protected files, which tools run or obey: .husky/pre-commit, .vscode/tasks .json.";
  expect(declined).toMatchObject({
    accepted: 0,
    asked: [
      {
        reason: `Apply 2 commits on main (add zod; fix the parser)? ${warning}`,
        arguments: { protectedPaths },
      },
    ],
  });
  expect(declined.events.at(-1)).toMatchObject({
    item: { status: "declined", result: `${warning}\n${LATER}` },
  });
  expect(await finish({ mode: "auto", protectedPaths })).toMatchObject({ asked: [{}], accepted: 1 });
});

test("asks nothing while the agent has a merge to finish, and says so", async () => {
  const { events, asked, accepted } = await finish({ refs: [], blocked: "a merge is not finished" });
  expect([asked, accepted]).toEqual([[], 0]);
  expect(events.at(-1)).toMatchObject({
    item: { status: "completed", result: expect.stringContaining("a merge is not finished") },
  });
});

test("says why the repository refused the commits, and where they are", async () => {
  const { events } = await finish({ refused: "HEAD was changed in the meantime" });
  expect(events.at(-1)).toMatchObject({
    item: { status: "failed", error: `Nothing was changed: HEAD was changed in the meantime.\n${LATER}` },
  });
});

test("reports commits that git itself refuses, and adds nothing if there are none", async () => {
  const refused = await finish({ commits: () => Promise.reject(new Error("hasDotgit")) });
  expect(refused.events).toMatchObject([
    { item: { status: "failed", error: expect.stringContaining("hasDotgit") } },
  ]);
  expect((await finish({ commits: async () => undefined })).events).toEqual([]);
});

test("describes created and deleted branches", () => {
  const [ref] = REFS;
  if (ref === undefined) throw new Error("no ref");
  const deleted = { ...ref, name: "refs/heads/old", change: "deleted" as const };
  const created = { ...ref, name: "refs/tags/v1", change: "created" as const, total: 0, commits: [] };
  expect(describeOffer({ refs: [deleted, created] })).toBe("Apply the deletion of old, the new v1");
  const forced = { ...ref, change: "forced" as const, submodule: "lib" };
  const switched = { ...created, name: "refs/heads/topic", change: "switched" as const };
  const stash = { ...ref, name: "refs/stash", change: "created" as const };
  expect(describeOffer({ refs: [forced, switched, stash] })).toBe(
    "Apply 2 commits on main, which loses commits it had, (add zod; fix the parser) in lib, the switch to topic, 2 stash entries (add zod; fix the parser)",
  );
});
