import { expect, test } from "vitest";
import { resolveSpec } from "./spec.ts";

const task = { prompt: "Port it", cwd: "/repo" };

test("limits that a task does not set come from the configuration, and then from the defaults", () => {
  const configured = { maxWaitSeconds: 600, quietHours: { from: "23:00", to: "07:00" } };
  expect(resolveSpec({ ...task, limits: { resume: "ask" } }, configured).limits).toEqual({
    ...configured,
    resume: "ask",
  });
  expect(resolveSpec({ ...task, limits: { resume: "never", maxWaitSeconds: undefined } }).limits).toEqual({
    ...{ resume: "never", maxWaitSeconds: 86_400 },
  });
});

test("a task without a time limit gets the default one, whatever else its budget says", () => {
  expect(resolveSpec({ ...task, budget: { costUsd: 5 } }).budget).toEqual({ costUsd: 5, seconds: 7200 });
  expect(resolveSpec(task).budget).toEqual({ seconds: 7200 });
});

test("a rule for several reviewers needs several", () => {
  const reviewers = [{ model: "codex" }];
  expect(() => resolveSpec({ ...task, reviewers, reviews: "all" })).toThrow("needs two reviewers or more");
  expect(resolveSpec({ ...task, reviewers, reviews: "first" }).reviews).toBe("first");
});
