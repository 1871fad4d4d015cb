import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UsageReports } from "@flint/core/ports";
import type { FlintClient } from "@flint/sdk";
import { Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import {
  addTask,
  setUpTasks,
  untilPhase,
  untilTask,
  verdict,
  type Work,
  writes,
} from "./testing/task-fixture.ts";

const PARTS = ["bwrap", "git"] as const;
const confined = needs(...PARTS);

/** Returns the lines in the log of a task. */
async function logged(client: FlintClient, taskId: string) {
  const { events } = await client.call("task/read", { taskId });
  return events.flatMap(({ type, data }) => (type === "task/logged" ? [data] : []));
}

const round = (reviews: number) =>
  reviews < 3
    ? [verdict("reject", [{ id: "x", severity: "blocker", what: `problem ${reviews}` }])]
    : [
        verdict(
          "approve",
          [],
          [1, 2].map((number) => ({ id: `F${number}`, state: "resolved" })),
        ),
      ];

describe("the turns of executor and reviewer", () => {
  needs(...PARTS)(
    "ask for concise summaries, and what they say is in the task's log [S2-49, S2-68, S2-69]",
    async () => {
      const { client, cwd, drivers } = await setUpTasks(
        (_text, _turn, folder) => {
          writeFileSync(join(folder, "b.txt"), "x\n");
          return [{ reasoning: "The importer comes first." }, { text: "done" }];
        },
        () => [{ reasoning: "Nothing is missing." }, verdict("approve")],
      );
      const { id } = await addTask(client, cwd);
      await untilPhase(client, id, "approving", "failed", "asking");
      expect(drivers.map(({ sessions }) => sessions[0]?.settings.summary)).toEqual(["concise", "concise"]);
      expect(await logged(client, id)).toMatchObject([
        { role: "executor", message: "The importer comes first." },
        { role: "reviewer", message: "Nothing is missing." },
      ]);
    },
  );

  confined("work with the effort and within the tokens that the task names", async () => {
    const { client, cwd, drivers } = await setUpTasks((text, turn, folder) => [
      { usage: { inputTokens: 90, outputTokens: 10 } },
      ...writes("b.txt", "x\n")(text, turn, folder),
    ]);
    const { id } = await addTask(client, cwd, {
      executors: [{ model: "alpha", effort: "high" }],
      reviewers: [{ model: "beta", effort: "heroic" }],
      budget: { tokens: 1000 },
    });
    await untilPhase(client, id, "approving", "failed", "asking");
    const settings = drivers.map(({ sessions }) => sessions[0]?.turns[0]?.settings);
    expect(settings.map((given) => given?.config.effort)).toEqual(["high", undefined]);
    expect(settings.map((given) => given?.budget?.turn?.tokens)).toEqual([1000, 900]);
    expect(await logged(client, id)).toMatchObject([
      { role: "reviewer", level: "warning", message: expect.stringContaining('effort "heroic" is ignored') },
    ]);
  });

  describe("with a limit of the cost", () => {
    const budget = { costUsd: 1 };

    /** Tasks whose executor reports so much of its cost; each call of the function is one question about it. */
    async function reporting(
      costUsd: (asked: number) => UsageReports["costUsd"],
      work = writes("b.txt", "x\n"),
    ) {
      const set = await setUpTasks(work);
      let asked = 0;
      const usageReports = async (): Promise<UsageReports> => {
        asked += 1;
        return { tokens: "call", steps: "call", costUsd: costUsd(asked) };
      };
      Object.assign(set.drivers[0] ?? {}, { usageReports });
      return set;
    }

    confined("are not added if the agent does not report its cost, unless that need not hold", async () => {
      const { client, cwd } = await reporting(() => "never");
      await expect(addTask(client, cwd, { budget })).rejects.toThrow(
        /cost_usd cannot be enforced: alpha\/.* does not report its cost/,
      );
      const { id } = await addTask(client, cwd, {
        ...{ budget: { ...budget, enforcement: "bestEffort" }, reviewers: [] },
      });
      await untilPhase(client, id, "approving", "failed", "asking");
      expect(await logged(client, id)).toMatchObject([
        { role: "executor", level: "warning", message: expect.stringContaining("does not apply") },
      ]);
    });

    confined("ask instead of starting with an agent that turns out not to report it", async () => {
      const { client, cwd, drivers } = await reporting((asked) => (asked === 1 ? "free" : "never"));
      const { id } = await addTask(client, cwd, { budget, reviewers: [] });
      const task = await untilPhase(client, id, "approving", "failed", "asking");
      expect(task).toMatchObject({
        phase: "asking",
        ask: { message: expect.stringContaining("cannot be enforced") },
      });
      expect(drivers[0]?.turns).toEqual([]);
    });

    confined("ask after a turn without a cost that was due at its end", async () => {
      const { client, cwd } = await reporting(
        () => "turn",
        () => [{ usage: { inputTokens: 10, outputTokens: 1 } }, { text: "done" }],
      );
      const { id } = await addTask(client, cwd, { budget, reviewers: [] });
      const task = await untilPhase(client, id, "approving", "failed", "asking");
      expect(task).toMatchObject({
        phase: "asking",
        ask: { reason: "budget", message: expect.stringContaining("could not be kept") },
      });
    });
  });

  confined("ask before commands and edits where the administrator locked that", async () => {
    const locks = { source: "/etc/flint/config.toml", approvalPolicy: "always" } as const;
    const work = writes("b.txt", "x\n");
    const { client, cwd, drivers } = await setUpTasks(work, undefined, undefined, undefined, {
      ...{ locks, approvalPolicy: "always" },
    });
    const { id } = await addTask(client, cwd);
    await untilPhase(client, id, "approving", "failed", "asking");
    expect(drivers[0]?.sessions[0]?.settings).toMatchObject({ acceptEdits: false, acceptCommands: false });
  });

  confined("take the limits that the administrator locked as their own", async () => {
    const locked = { turn: { costUsd: 2, seconds: 60 }, thread: { tokens: 5_000 } };
    const { client, cwd, drivers } = await setUpTasks(
      writes("b.txt", "x\n"),
      undefined,
      undefined,
      undefined,
      {
        ...{ locks: { source: "/etc/flint/config.toml", budget: locked }, budget: locked },
      },
    );
    const { id } = await addTask(client, cwd);
    await untilPhase(client, id, "approving", "failed", "asking");
    expect(drivers[0]?.sessions[0]?.settings.budget).toMatchObject(locked);
  });

  needs(...PARTS)(
    "log what went wrong and count what they used, also if no client follows them [S2-50]",
    async () => {
      const tokens = { inputTokens: 40, outputTokens: 2 };
      const { client, cwd } = await setUpTasks((_text, _turn, folder) => {
        writeFileSync(join(folder, "b.txt"), "x\n");
        return [
          { usage: tokens },
          { emit: { type: "model/rerouted", fromModel: "big", toModel: "small", reason: "overloaded" } },
          { emit: { type: "error", error: { message: "Stream cut" }, willRetry: true } },
          { emit: { type: "error", error: { message: "Stream cut" }, willRetry: true } },
          { emit: { type: "warning", message: "This model goes away", reason: "deprecation" } },
          { emit: { type: "warning", message: "Unknown key in the file", reason: "configuration" } },
          { fail: { message: "No more", errorInfo: "AgentFailed" } },
        ];
      });
      const { id } = await addTask(client, cwd, { reviewers: [], attempts: 1 });
      const task = await untilPhase(client, id, "approving", "failed", "asking");
      expect(task.usage.tokens).toMatchObject(tokens);
      expect(await logged(client, id)).toMatchObject([
        { role: "executor", level: "warning", message: "works with small instead of big: overloaded" },
        { level: "warning", message: "Stream cut (the agent tries again)" },
        { level: "warning", message: "This model goes away" },
        { level: "warning", message: "Unknown key in the file" },
      ]);
    },
  );

  needs(...PARTS)("are known by their id while they run, and a cancel interrupts them [S2-48]", async () => {
    const gate = new Gate();
    const { client, cwd, drivers } = await setUpTasks(() => [{ wait: gate }]);
    const { id: taskId } = await addTask(client, cwd);
    await gate.reached;
    const [alpha] = drivers;
    const turnId = alpha?.turns[0]?.turnId;
    const { thread } = await untilTask(client, taskId, (task) => task.thread?.turnId !== undefined);
    expect(thread?.turnId).toBe(turnId);
    await client.call("task/cancel", { taskId });
    await untilPhase(client, taskId, "cancelled");
    expect(alpha?.turns[0]?.signal.aborted).toBe(true);
  });

  confined("start with a compaction from the second rejection on, and not before [S2-15]", async () => {
    let [works, reviews] = [0, 0];
    const { client, cwd, drivers } = await setUpTasks(
      (text, turn, folder) => {
        if (turn.kind === "compact") return [{ text: "shorter" }];
        works += 1;
        return writes("b.txt", `round ${works}\n`)(text, turn, folder);
      },
      () => {
        reviews += 1;
        return round(reviews);
      },
    );
    const { id } = await addTask(client, cwd);
    expect((await untilPhase(client, id, "approving", "failed", "asking")).round).toBe(3);
    expect(drivers[0]?.turns.map(({ kind }) => kind)).toEqual(["prompt", "prompt", "compact", "prompt"]);
  });

  confined("count with the compaction before them and the answer that had another form", async () => {
    const using = (inputTokens: number, amount: number) => {
      const cost = { amount, currency: "USD" };
      return { usage: { inputTokens, outputTokens: 0 }, cost };
    };
    let [works, reviews] = [0, 0];
    const { client, cwd, drivers } = await setUpTasks(
      (text, turn, folder) => {
        if (turn.kind === "compact") return [using(1000, 10), { text: "shorter" }];
        works += 1;
        return [using(1, 0.01), ...writes("b.txt", `round ${works}\n`)(text, turn, folder)];
      },
      (text) => {
        if (!text.startsWith("Answer with the verdict alone")) return [using(100, 1), { text: "I like it." }];
        reviews += 1;
        return [using(20, 0.2), ...round(reviews)];
      },
    );
    const budget = { seconds: 1000, tokens: 100_000, enforcement: "bestEffort" };
    const { id } = await addTask(client, cwd, { budget });
    const { usage } = await untilPhase(client, id, "approving", "failed", "asking");
    expect(usage.tokens.inputTokens).toBe(3 * 1 + 1000 + 3 * 120);
    expect(usage.cost?.amount).toBeCloseTo(3 * 0.01 + 10 + 3 * 1.2);
    const [, second] = drivers[1]?.sessions.flatMap(({ turns }) => turns) ?? [];
    expect(second?.settings?.budget?.turn?.tokens).toBe(100_000 - 1 - 100);
  });

  confined(
    "of an agent that fails are taken over by the next one of the role, and the log says so",
    async () => {
      const fails: Work = () => [{ fail: { message: "The key is gone", errorInfo: "AgentFailed" } }];
      const { client, cwd } = await setUpTasks(fails, writes("b.txt", "by beta\n"));
      const executors = [{ model: "alpha" }, { model: "beta" }];
      const { id: taskId } = await addTask(client, cwd, { executors, reviewers: [] });
      const done = await untilPhase(client, taskId, "approving", "failed", "asking");
      expect(done).toMatchObject({ phase: "approving", executor: "beta", attempt: 1 });
      const { events } = await client.call("task/read", { taskId });
      expect(events.find(({ type }) => type === "task/fallback")?.data).toEqual({
        role: "executor",
        index: 1,
        reason: "The key is gone",
      });
    },
  );

  confined("count although their report has another form than was asked for", async () => {
    let works = 0;
    const { client, cwd } = await setUpTasks(
      (text, turn, folder) => {
        works += 1;
        writes("b.txt", `round ${works}\n`)(text, turn, folder);
        const mismatch = { message: "No answer matches", errorInfo: "SchemaMismatch" };
        return turn.outputSchema === undefined ? [{ text: "done" }] : [{ text: "done" }, { fail: mismatch }];
      },
      () =>
        works === 1
          ? [verdict("reject", [{ id: "x", severity: "blocker", what: "wrong" }])]
          : [verdict("approve", [], [{ id: "F1", state: "resolved" }])],
    );
    const { id } = await addTask(client, cwd);
    const done = await untilPhase(client, id, "approving", "failed", "asking");
    expect(done).toMatchObject({ phase: "approving", round: 2, attempt: 1 });
  });

  confined("of an agent that is not logged in wait for the user instead of using up attempts", async () => {
    let turns = 0;
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      turns += 1;
      const error = { message: "Log in first", errorInfo: "Unauthorized" };
      return turns === 1 ? [{ fail: error }] : writes("b.txt", "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    const { ask, attempt } = await untilPhase(client, taskId, "asking", "failed", "approving");
    expect([ask?.message, attempt]).toEqual(["Log in first", 1]);
    await client.call("task/answer", { taskId, askId: ask?.id ?? "", answer: { choice: "continue" } });
    expect((await untilPhase(client, taskId, "approving", "failed", "asking")).phase).toBe("approving");
  });
});

describe("what an executor may do without asking", () => {
  const network = { network: { hosts: ["example.org:443"] } } as const;
  const tool = { kind: "tool", tool: "search", server: "web", arguments: {} } as const;
  const asksFor =
    (wants: object): Work =>
    (_text, _turn, folder) => {
      writeFileSync(join(folder, "b.txt"), "x\n");
      const command = { kind: "command", itemId: "i1", command: "make", cwd: folder } as const;
      return [{ approve: { ...command, ...wants } }, { text: "done" }];
    };

  const CASES = [
    ["is a command in the sandbox", {}, {}, "approving"],
    ["is not network access", { needs: network }, {}, "asking"],
    ["is network access in a task that accepts", { needs: network }, { allow: "tools" }, "approving"],
    ["is not the tool of a server", tool, {}, "asking"],
    ["is the tool of a server in a task that accepts", tool, { allow: "tools" }, "approving"],
    ["is never a write outside of the sandbox", { needs: { write: ["/srv"] } }, { allow: "tools" }, "asking"],
    ["is never a command without the sandbox", { needs: { unconfined: true } }, { allow: "tools" }, "asking"],
    ["is never a command on the git directory", { needs: { git: true } }, { allow: "tools" }, "asking"],
  ] as const;

  for (const [what, wants, more, phase] of CASES)
    needs(...PARTS)(`${what} [S2-78]`, async () => {
      const { client, cwd } = await setUpTasks(asksFor(wants));
      const { id } = await addTask(client, cwd, { reviewers: [], ...more });
      expect((await untilPhase(client, id, "asking", "approving", "failed")).phase).toBe(phase);
    });

  confined("gets the answer to its question", async () => {
    const prompts: string[] = [];
    const { client, cwd } = await setUpTasks((text, turn, folder) => {
      prompts.push(text);
      if (prompts.length === 1) return [{ ask: [{ id: "q", question: "Which port?" }] }];
      return writes("b.txt", "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    const { ask } = await untilPhase(client, taskId, "asking", "failed", "approving");
    expect(ask).toMatchObject({ reason: "question", message: "Which port?" });
    const answer = { choice: "continue", message: "8080" } as const;
    await client.call("task/answer", { taskId, askId: ask?.id ?? "", answer });
    expect((await untilPhase(client, taskId, "approving", "failed", "asking")).phase).toBe("approving");
    expect(prompts[1]).toContain("You asked:\nWhich port?\nThe answer is:\n8080");
  });
});
