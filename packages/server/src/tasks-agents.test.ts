import type { SetupProblem } from "@flint/core/ports";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { setUpTasks } from "./testing/task-fixture.ts";

const gitTest = needs("git");
const missing: SetupProblem = { kind: "missing", message: "Alpha was not found. Install it." };
const login: SetupProblem = { kind: "login", message: "No login of Alpha was found." };

/** A server whose alpha has this problem, and what happens to tasks that are added to it for the first time in the future. */
async function setUp(problem: SetupProblem) {
  const { client, cwd, drivers } = await setUpTasks(() => []);
  Object.assign(drivers[0] ?? {}, { setupProblem: async () => problem });
  const later = { prompt: "Port it", cwd, notBeforeMs: Date.now() + 3_600_000 };
  const add = (task: object) => client.call("task/add", { tasks: [{ ...later, ...task }] });
  return { add };
}

const [alpha, beta] = [{ model: "alpha" }, { model: "beta" }];

describe("a task whose agent is not installed", () => {
  gitTest("is refused with the way to install it, unless another can take over", async () => {
    const { add } = await setUp(missing);
    const refused = missing.message;
    await expect(add({ executors: [{ model: "alpha/steady" }] })).rejects.toThrow(refused);
    await expect(add({ executors: [beta], reviewers: [alpha] })).rejects.toThrow(refused);
    expect((await add({ executors: [alpha, beta] })).warnings).toEqual([refused]);
    const both = { executors: [beta], reviewers: [beta, alpha] };
    expect((await add(both)).warnings).toEqual([refused]);
    await expect(add({ ...both, reviews: "all" })).rejects.toThrow(refused);
  });

  gitTest("is accepted for workers elsewhere, who may have it", async () => {
    const { add } = await setUp(missing);
    expect(await add({ executors: [alpha], pool: "linux" })).not.toHaveProperty("warnings");
  });
});

gitTest("a task whose agent has no known login is added with a warning", async () => {
  const { add } = await setUp(login);
  expect(await add({ executors: [alpha], reviewers: [alpha] })).toMatchObject({
    data: [{ phase: "waiting" }],
    warnings: [login.message],
  });
});
