import { expect, test } from "vitest";
import { openTaskFile, readTaskFile } from "./task-file.ts";

const read = (text: string) => readTaskFile(text, "/repo", "tasks.yaml");

test("labels and a remote are written short or long, and defaults hold for every task", () => {
  const text = "defaults: {labels: [gpu, zone=eu], remote: origin}\ntasks: [one, {prompt: two, label: cpu}]";
  expect(read(text)).toEqual([
    expect.objectContaining({ labels: ["gpu", "zone=eu"], remote: { url: "origin" } }),
    expect.objectContaining({ prompt: "two", cwd: "/repo" }),
  ]);
  expect(read("[{prompt: a, label: gpu, remote: {url: /srv/a.git}}]")[0]).toMatchObject({
    ...{ labels: ["gpu"], remote: { url: "/srv/a.git" } },
  });
});

test("a file that cannot be read is named with its option", () => {
  expect(() => openTaskFile("/nowhere/tasks.yaml")).toThrow("Cannot read --file /nowhere/tasks.yaml: ENOENT");
});

test("limits and budgets may be given in part, and git as a mode", () => {
  const text = "[{prompt: a, git: 'off', limits: {resume: ask}, budget: {costUsd: 5}}]";
  expect(read(text)).toEqual([
    { prompt: "a", cwd: "/repo", git: "off", limits: { resume: "ask" }, budget: { costUsd: 5 } },
  ]);
});

test("several reviewers are a list, and reviews says whose counts", () => {
  const [task] = read("[{prompt: a, reviewer: [codex, claude], reviews: all}]");
  expect(task).toMatchObject({ reviewers: [{ model: "codex" }, { model: "claude" }], reviews: "all" });
});

test("a task of a file starts at its own time, or at that of the defaults", () => {
  const [one, two] = read(
    "defaults: {at: 2999-01-01 22:00Z}\ntasks: [one, {prompt: two, at: 2999-01-02 22:00Z}]",
  );
  expect([one?.notBeforeMs, two?.notBeforeMs]).toEqual([1, 2].map((day) => Date.UTC(2999, 0, day, 22)));
});

test.each([
  ["[{prompt: a, lable: gpu}]", "unknown key lable. Did you mean label?"],
  ["[{prompt: a, label: a b}]", "task 1: labels.0 must be a label such as gpu or zone=eu"],
  ["[{prompt: a, remote: {url: x, folder: ../x}}]", "remote.folder must be a folder in the repository"],
  ["[{prompt: a, remote: {url: x, commit: main}}]", "remote.commit must be the id of a commit"],
  ["[{prompt: a, reviews: most}]", "task 1: reviews "],
  ["[{prompt: a, git: no}]", "task 1: git "],
  [
    "[{prompt: a, check: {command: make, timeoutSeconds: 7200}}]",
    "checks.0.timeoutSeconds must be at most 3600, an hour",
  ],
  ["[{prompt: a, at: soon}]", "tasks.yaml, task 1: at: soon is not a time"],
  ["[]", "tasks.yaml has no tasks"],
  ["tasks: {", "tasks.yaml is not valid YAML"],
])("%s is a usage error", (text, problem) => {
  expect(() => read(text)).toThrow(problem);
});
