import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, untilTask, verdict, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

describe("a task", () => {
  confined(
    "goes back with findings, is reviewed again, and becomes a branch once the user approved its tree",
    async () => {
      const prompts: string[] = [];
      let reviews = 0;
      const setup = await setUpTasks(
        (text, turn, cwd) => {
          prompts.push(text);
          return writes("b.txt", `round ${prompts.length}\n`)(text, turn, cwd);
        },
        () => {
          reviews += 1;
          const finding = { id: "x", severity: "major", file: "b.txt", line: 1, what: "says too little" };
          return reviews === 1
            ? [verdict("reject", [finding])]
            : [verdict("approve", [], [{ id: "F1", state: "resolved" }])];
        },
      );
      const { client, cwd, git } = setup;
      const { id: taskId } = await addTask(client, cwd);
      const done = await untilPhase(client, taskId, "approving", "failed", "asking");
      expect(done).toMatchObject({
        phase: "approving",
        round: 2,
        findings: [{ id: "F1", state: "resolved" }],
      });
      expect(prompts[0]).toBe("Port it");
      expect(prompts[1]).toContain("says too little");
      const { diff, tree } = await client.call("task/diff", { taskId });
      expect(diff).toContain("+round 2");
      await expect(client.call("task/approve", { taskId, tree: "0".repeat(40) })).rejects.toThrow(
        "has changed since",
      );
      await client.call("task/approve", { taskId, tree });
      expect(await untilPhase(client, taskId, "done", "failed")).toMatchObject({
        merged: { ref: "refs/heads/flint/port-it" },
      });
      expect(await git("show", "flint/port-it:b.txt")).toBe("round 2");
      expect(await git("status", "--porcelain")).toBe("");
      expect(await git("rev-parse", "--abbrev-ref", "HEAD")).toBe("main");
    },
  );

  confined("whose check fails gives its output to the executor", async () => {
    const prompts: string[] = [];
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      return writes("b.txt", prompts.length === 1 ? "bad\n" : "good\n")(text, turn, folder);
    });
    const checks = [{ command: "grep -q good b.txt || { echo it is bad; exit 3; }" }];
    const { id } = await addTask(client, cwd, {
      checks,
      reviewers: [],
      approvedBy: "reviewer",
      merge: "none",
    });
    expect(await untilPhase(client, id, "done", "failed", "asking")).toMatchObject({
      phase: "done",
      round: 2,
    });
    expect(prompts[1]).toContain("it is bad");
  });

  confined("that changes nothing asks the user, and continues with the answer", async () => {
    const prompts: string[] = [];
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      return prompts.length === 1 ? [{ text: "nothing to do" }] : writes("b.txt", "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd);
    const { ask } = await untilPhase(client, taskId, "asking", "failed");
    expect(ask).toMatchObject({ reason: "unchanged" });
    const answer = { choice: "continue", message: "look at b.txt" } as const;
    await client.call("task/answer", { taskId, askId: ask?.id ?? "", answer });
    expect((await untilPhase(client, taskId, "approving", "failed")).phase).toBe("approving");
    expect(prompts[1]).toContain("look at b.txt");
  });

  confined("at a usage limit is suspended until the reset, and continues in the same thread", async () => {
    const resetsAtMs = Date.now() + 3_600_000;
    const limit = { window: "5 hours", status: "reached", source: "frame", resetsAtMs } as const;
    const reached = { emit: { type: "limits", limits: [limit] } } as const;
    const turns: string[] = [];
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      turns.push(text);
      const error = { message: "You have reached your limit", errorInfo: "UsageLimitExceeded" };
      if (turns.length === 1) return [reached, { fail: error }];
      return writes("b.txt", "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd);
    const suspended = await untilPhase(client, taskId, "suspended", "failed", "asking");
    expect(suspended, JSON.stringify(suspended.ask)).toMatchObject({ phase: "suspended" });
    expect(suspended.untilMs).toBeGreaterThanOrEqual(resetsAtMs);
    await client.call("task/resume", { taskId });
    const done = await untilPhase(client, taskId, "approving", "failed", "asking");
    expect(done).toMatchObject({ phase: "approving", thread: { threadId: suspended.thread?.threadId } });
    expect(turns[1]).toContain("interrupted by a usage limit");
  });

  needs("bwrap", "git")(
    "whose agent gets no answer asks the user itself, and the answer allows the action later [S4-49]",
    async () => {
      const setup = await setUpTasks((text, _turn, folder) => {
        writeFileSync(join(folder, "b.txt"), `${text}\n`);
        const needs = { network: { hosts: ["example.org:443"] } };
        return [
          { approve: { kind: "command", itemId: "i1", command: "make install", cwd: folder, needs } },
          { text: "done" },
        ];
      });
      const { client, cwd } = setup;
      const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
      const { ask } = await untilPhase(client, taskId, "asking", "failed", "approving");
      expect(ask).toMatchObject({ reason: "approval", message: expect.stringContaining("make install") });
      const answer = { choice: "continue", response: { outcome: "allow" } } as const;
      await client.call("task/answer", { taskId, askId: ask?.id ?? "", answer });
      expect((await untilPhase(client, taskId, "approving", "asking", "failed")).phase).toBe("approving");
    },
  );

  confined("continues after its server was stopped in the middle of a turn", async () => {
    const gate = new Gate();
    let turns = 0;
    const setup = await setUpTasks((_text, _turn, folder) => {
      turns += 1;
      if (turns === 1) return [{ wait: gate }];
      writeFileSync(join(folder, "b.txt"), "x\n");
      return [{ text: "done" }];
    });
    const { id: taskId } = await addTask(setup.client, setup.cwd);
    await gate.reached;
    await setup.stop();
    const { client } = await setup.start();
    expect(await untilPhase(client, taskId, "approving", "failed", "asking")).toMatchObject({
      phase: "approving",
      attempt: 1,
    });
  });

  confined("that is cancelled interrupts its turn and changes nothing afterwards", async () => {
    const gate = new Gate();
    const { client, cwd, git } = await setUpTasks((_text, _turn, folder) => {
      writeFileSync(join(folder, "b.txt"), "x\n");
      return [{ wait: gate }, { text: "done" }];
    });
    const { id: taskId } = await addTask(client, cwd);
    await gate.reached;
    await client.call("task/cancel", { taskId });
    expect((await untilPhase(client, taskId, "cancelled")).phase).toBe("cancelled");
    expect(await git("for-each-ref", "--format=%(refname)", "refs/flint")).not.toContain("/r1/");
    await client.call("task/remove", { taskId });
    expect(await git("worktree", "list")).not.toContain("worktrees");
  });

  confined("whose turn a client interrupts waits until it is resumed, and then goes on", async () => {
    const gate = new Gate();
    const prompts: string[] = [];
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      return prompts.length === 1
        ? [{ wait: gate }, { text: "done" }]
        : writes("b.txt", "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd);
    await gate.reached;
    const { thread } = await untilTask(client, taskId, (task) => task.thread?.turnId !== undefined);
    const { threadId = "", turnId = "" } = thread ?? {};
    await client.call("turn/interrupt", { threadId, turnId });
    await untilPhase(client, taskId, "suspended", "approving", "failed", "asking");
    expect(prompts).toHaveLength(1);
    await client.call("task/resume", { taskId });
    expect((await untilPhase(client, taskId, "approving", "failed", "asking")).phase).toBe("approving");
    expect(prompts[1]).toContain("You were interrupted by a user");
  });

  confined("runs on the server itself, which is not drained like a worker", async () => {
    const { client } = await setUpTasks(writes("b.txt", "x\n"));
    const { data } = await client.call("worker/list", {});
    expect(data).toMatchObject([{ name: "local", concurrency: 2, load: 0, draining: false }]);
    await expect(client.call("worker/drain", { name: "local" })).rejects.toThrow("flint server stop");
  });

  confined("is added once, never in a cycle, and after those it names", async () => {
    const { client, cwd } = await setUpTasks(writes("b.txt", "x\n"));
    const task = { prompt: "p", cwd, reviewers: [], merge: "none" as const };
    const cycle = [
      { ...task, name: "a", after: ["b"] },
      { ...task, name: "b", after: ["a"] },
    ];
    await expect(client.call("task/add", { tasks: cycle })).rejects.toThrow("a → b → a");
    const pair = [
      { ...task, name: "b", after: ["a"], clientId: "b" },
      { ...task, name: "a", clientId: "a" },
    ];
    const first = await client.call("task/add", { tasks: pair });
    const second = await client.call("task/add", { tasks: pair });
    expect(second.data.map(({ id }) => id)).toEqual(first.data.map(({ id }) => id));
    expect((await client.call("task/list", {})).data.map(({ phase }) => phase)).toContain("waiting");
  });
});
