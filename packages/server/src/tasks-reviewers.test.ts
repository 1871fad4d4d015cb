import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { addTask, setUpTasks, untilPhase, verdict, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

confined("of two reviewers that have to approve, the second is shown what the first found", async () => {
  const prompts: string[] = [];
  let turns = 0;
  const { client, cwd } = await setUpTasks(
    (text, turn, folder) => {
      turns += 1;
      return writes("b.txt", `${turns}\n`)(text, turn, folder);
    },
    (text) => {
      prompts.push(text);
      const finding = { id: "F1", severity: "major" as const, file: "b.txt", what: "the wrong number" };
      if (prompts.length === 1) return [verdict("reject", [finding])];
      const state = prompts.length === 2 ? ("open" as const) : ("resolved" as const);
      return [verdict(prompts.length === 2 ? "reject" : "approve", [], [{ id: "F1", state }])];
    },
  );
  const reviewers = [{ model: "beta" }, { model: "beta/swift" }];
  const { id } = await addTask(client, cwd, { reviewers, reviews: "all", rounds: 2 });
  const task = await untilPhase(client, id, "approving", "asking", "failed");
  expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "approving", round: 2 });
  expect(task.findings).toMatchObject([{ id: "F1", state: "resolved" }]);
  expect([turns, prompts.length]).toEqual([2, 4]);
  expect(prompts[1]).toContain("the wrong number");
});
