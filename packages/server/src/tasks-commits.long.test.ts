import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { Gate, needs, type Script } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, untilTask, verdict, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");
const IDENTITY = "git config user.name Agent; git config user.email agent@example.org";

/** An executor that runs one script of the shell in each of its turns, in the sandbox of its thread. */
async function setUpShell(
  scripts: readonly (string | ((prompt: string) => string))[],
  reviews: Parameters<typeof setUpTasks>[1],
  last: Script[number] = { text: "done" },
) {
  let turns = 0;
  let sandbox: Sandbox | undefined;
  let output = "";
  const fixture = await setUpTasks((text, _turn, cwd) => {
    const gate = new Gate();
    const given = scripts[turns] ?? "true";
    const script = typeof given === "string" ? given : given(text);
    turns += 1;
    const policy = { type: "workspaceWrite" } as const;
    const command = ["/bin/sh", "-c", `${IDENTITY}; ${script}`];
    const onOutput = (text: string) => {
      output += text;
    };
    void sandbox?.launch({ command, cwd, workspace: cwd, policy, onOutput }).finally(() => gate.open());
    return [{ wait: gate }, last];
  }, reviews);
  const [alpha] = fixture.drivers;
  if (alpha === undefined) throw new Error("There is no executor");
  const open = alpha.open.bind(alpha);
  alpha.open = (spec) => {
    sandbox = spec.sandbox;
    return open(spec);
  };
  return { ...fixture, output: () => output };
}

const rejectsOnce = () => {
  let reviews = 0;
  return () => {
    reviews += 1;
    return reviews === 1
      ? [verdict("reject", [{ id: "x", severity: "blocker", what: "no test" }])]
      : [verdict("approve", [], [{ id: "F1", state: "resolved" }])];
  };
};

describe("the commits of an executor", () => {
  confined("are kept with their messages, and what it left uncommitted is one more", async () => {
    const { client, cwd, git, output } = await setUpShell(
      [
        "echo 1 > b.txt; git add b.txt; git commit -qm 'port the parser'; echo 2 >> b.txt",
        "git status --porcelain; git log --format=%s -1; echo 3 > c.txt; git add c.txt; git commit -qm 'test it'",
      ],
      rejectsOnce(),
    );
    const head = await git("rev-parse", "HEAD");
    const { id } = await addTask(client, cwd, { merge: "rebase", rounds: 2 });
    const { result } = await untilPhase(client, id, "approving", "failed", "asking");
    // The second turn starts from a clean tree, on the commit of the first.
    expect(output()).toBe("Port it\n");
    await client.call("task/approve", { taskId: id, tree: result?.tree ?? null });
    const { merged } = await untilPhase(client, id, "done", "failed", "asking");
    const log = await git("log", "--format=%an: %s", `main..${merged?.commit}`);
    expect(log.split("\n")).toEqual(["Agent: test it", "Flint: Port it", "Agent: port the parser"]);
    // Neither the branches nor the checkout of the user have changed.
    expect(await git("rev-parse", "HEAD")).toBe(head);
    expect(await git("status", "--porcelain")).toBe("");
  });

  confined("on a branch of its own do not make a branch of the user's", async () => {
    const { client, cwd, git } = await setUpShell(
      ["git switch -qc topic; echo 1 > b.txt; git add b.txt; git commit -qm 'on topic'; git tag v9"],
      undefined,
    );
    const { id } = await addTask(client, cwd, { merge: "branch" });
    const { result } = await untilPhase(client, id, "approving", "failed", "asking");
    expect(await git("log", "-1", "--format=%s", result?.commit ?? "")).toBe("on topic");
    expect(await git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")).toBe(
      "refs/heads/main",
    );
  });

  confined("that are no continuation of the task's do not count, but their files do", async () => {
    const { client, cwd, git } = await setUpShell(
      ["git checkout -q --orphan other; echo 1 > b.txt; git add -A; git commit -qm 'from nowhere'"],
      undefined,
    );
    const { id } = await addTask(client, cwd, { merge: "branch" });
    const { result } = await untilPhase(client, id, "approving", "failed", "asking");
    expect(await git("log", "--format=%s", result?.commit ?? "")).toBe("Port it\nfirst");
    expect(await git("show", `${result?.commit}:b.txt`)).toBe("1");
  });

  confined("that failed are in the folder of the one that takes over, and in its result", async () => {
    const { client, cwd, git } = await setUpShell(
      ["echo 1 > b.txt; git add b.txt; git commit -qm 'half of it'"],
      writes("c.txt", "by beta\n"),
      { fail: { message: "The key is gone", errorInfo: "AgentFailed" } },
    );
    const executors = [{ model: "alpha" }, { model: "beta" }];
    const { id } = await addTask(client, cwd, { executors, reviewers: [] });
    const done = await untilPhase(client, id, "approving", "failed", "asking");
    expect(done).toMatchObject({ phase: "approving", executor: "beta" });
    const files = await git("ls-tree", "-r", "--name-only", done.result?.commit ?? "");
    expect(files.split("\n")).toEqual(["a.txt", "b.txt", "c.txt"]);
  });

  confined("are not possible in a task without git", async () => {
    const { client, cwd, git, output } = await setUpShell(
      ["echo 1 > b.txt; git add b.txt 2>/dev/null || echo read-only"],
      undefined,
    );
    const { id } = await addTask(client, cwd, { git: "off" });
    const { result } = await untilPhase(client, id, "approving", "failed", "asking");
    expect(output()).toContain("read-only");
    expect(await git("log", "--format=%s", result?.commit ?? "")).toBe("Port it\nfirst");
  });
});

describe("a result that conflicts with its target branch", () => {
  /** Approves what is shown, and returns the task once it waits again or has ended. */
  async function approve(client: Awaited<ReturnType<typeof setUpShell>>["client"], taskId: string) {
    const { result } = await untilPhase(client, taskId, "approving", "failed", "asking");
    await client.call("task/approve", { taskId, tree: result?.tree ?? null });
    return untilTask(
      client,
      taskId,
      ({ phase, result: next }) =>
        ["done", "failed", "asking"].includes(phase) ||
        (phase === "approving" && next?.tree !== result?.tree),
    );
  }

  /** A task whose first result was approved after its target had changed in the same line. */
  async function conflicting(resolve: (prompt: string) => string) {
    const setup = await setUpShell(["echo mine > a.txt", resolve, resolve], undefined);
    const { client, cwd, git } = setup;
    await git("branch", "target");
    const task = { reviewers: [], base: "target", merge: "squash", rounds: 3 };
    const { id } = await addTask(client, cwd, task);
    await untilPhase(client, id, "approving", "failed", "asking");
    await git("switch", "-q", "target");
    writeFileSync(join(cwd, "a.txt"), "theirs\n");
    await git("commit", "-qam", "theirs");
    await git("switch", "-q", "main");
    return { ...setup, id, next: await approve(client, id) };
  }

  const merging = (prompt: string) => {
    const onto = /Merge ([0-9a-f]{40}) and resolve the conflicts in a\.txt/.exec(prompt)?.[1];
    return `git merge -q ${onto}; echo both > a.txt; git add a.txt; git commit -qm resolved`;
  };

  confined("goes back to its executor, and is merged once that has resolved it", async () => {
    const { client, git, id, next } = await conflicting(merging);
    expect(next).toMatchObject({ phase: "approving", round: 2 });
    expect(await approve(client, id)).toMatchObject({ phase: "done", merged: { ref: "refs/heads/target" } });
    expect(await git("log", "--format=%s", "target")).toBe("Port it\ntheirs\nfirst");
    expect(await git("show", "target:a.txt")).toBe("both");
    expect([await git("status", "--porcelain"), await git("branch", "--show-current")]).toEqual(["", "main"]);
  });

  confined("asks the user if it still conflicts after that round", async () => {
    const { client, git, id, next } = await conflicting(() => "echo mine again > a.txt");
    expect(next).toMatchObject({ phase: "approving", round: 2 });
    const asking = await approve(client, id);
    expect(asking).toMatchObject({ phase: "asking", ask: { reason: "conflict" } });
    expect(asking.ask?.message).toContain("a.txt");
    expect(await git("show", "target:a.txt")).toBe("theirs");
  });
});
