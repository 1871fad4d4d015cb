import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { addTask, setUpTasks, untilPhase, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

confined("a task waits for a usage limit that a thread outside of tasks has met", async () => {
  const resetsAtMs = Date.now() + 3_600_000;
  const limit = { window: "5 hours", status: "reached", source: "frame", resetsAtMs } as const;
  const prompts: string[] = [];
  const { client, cwd } = await setUpTasks(
    (text) => {
      prompts.push(text);
      const error = { message: "You have reached your limit", errorInfo: "UsageLimitExceeded" };
      return [{ emit: { type: "limits", limits: [limit] } }, { fail: error }];
    },
    writes("b.txt", "x\n"),
  );
  const thread = await client.startThread({ model: "alpha", cwd });
  await expect(thread.run("hello")).rejects.toThrow("reached your limit");
  const held = await addTask(client, cwd, { reviewers: [] });
  const other = await addTask(client, cwd, { executors: [{ model: "beta" }], reviewers: [] });
  await untilPhase(client, other.id, "approving", "asking", "failed");
  const { data } = await client.call("task/list", {});
  expect(data.find(({ id }) => id === held.id)).toMatchObject({ phase: "ready", untilMs: resetsAtMs });
  expect(prompts).toEqual(["hello"]);
  // One that is not to wait meets the limit itself.
  const asking = await addTask(client, cwd, { reviewers: [], limits: { resume: "ask" } });
  const { ask } = await untilPhase(client, asking.id, "asking", "approving", "failed");
  expect(ask).toMatchObject({ reason: "limit" });
});
