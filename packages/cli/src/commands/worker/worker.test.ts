import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readArguments } from "../../command-line/command.ts";
import { WORKER_FLAGS } from "./flags.ts";
import { settingsOf } from "./worker.ts";
import { workerTable } from "./workers.ts";

const read = (...args: string[]) => settingsOf(readArguments(args, WORKER_FLAGS).values, undefined);

test("a worker lets tasks do little unless its options allow more", () => {
  expect(read("--redis", "redis://q", "--name", "w", "--folder", "/srv")).toMatchObject({
    ...{ redis: "redis://q", namespace: "default", name: "w", concurrency: 1, trusted: [] },
    ceiling: { folders: ["/srv"], merge: ["none", "branch"], network: false, allowTools: false },
  });
});

test("uses the configuration for options that are not given", () => {
  const events = { stream: "my:events", maxLength: 500 };
  const fleet = { redis: "redis://q", namespace: "team", events };
  const { values } = readArguments(["--namespace", "other"], WORKER_FLAGS);
  expect(settingsOf(values, fleet)).toMatchObject({ redis: "redis://q", namespace: "other", events });
});

test("tasks that name no agent get one of those that may work", () => {
  const modelOf = (args: string[], model?: string) =>
    settingsOf(readArguments(["--redis", "redis://q", ...args], WORKER_FLAGS).values, undefined, model)
      .ceiling.defaultModel;
  expect(modelOf([], "gemini")).toBeUndefined();
  expect(modelOf(["--agents", "claude,codex"])).toBe("claude");
  expect(modelOf(["--agents", "claude,codex"], "codex/gpt")).toBe("codex/gpt");
  expect(modelOf(["--agents", "claude,codex"], "gemini")).toBe("claude");
});

test.each([
  [[], "worker needs the Redis of the fleet"],
  [["--redis", "redis://q", "--label", "a b"], "such as gpu or zone=eu"],
  [["--redis", "redis://q", "--project", "origin"], "write it as URL=DIR"],
  [["--redis", "redis://q", "--project", "git@host:a=/nowhere/at/all"], "/nowhere/at/all does not exist"],
  [
    ["--redis", "redis://q", "--remote", "ext::id"],
    "write it as an address such as https://git.example/team",
  ],
  [["--redis", "redis://q", "--concurrency", "0"], "a whole number from 1 to 256"],
  [["--redis", "redis://q", "--merge", "push"], "push"],
])("a worker with %j is a usage error", (args, problem) => {
  expect(() => read(...args)).toThrow(problem);
});

test("a table of workers shows what they do, take and offer", () => {
  const row = { version: "1.0.0", pools: ["default", "linux"], labels: [], concurrency: 4, draining: false };
  const lines = workerTable([
    { ...row, name: "a", load: 0, labels: ["gpu"] },
    { ...row, name: "b", load: 2 },
    { ...row, name: "c\u001b", load: 1, draining: true },
  ]).split("\n");
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " | ").trim())).toEqual([
    "WORKER | STATUS | TASKS | POOLS | LABELS | VERSION",
    "a | idle | 0 of 4 | default, linux | gpu | 1.0.0",
    "b | working | 2 of 4 | default, linux | - | 1.0.0",
    expect.stringMatching(/^c.+ \| draining \| 1 of 4/),
    "",
  ]);
});

test("the workers of the compose example start with valid options, beside a Redis that never evicts", () => {
  const file = new URL("../../../../../examples/fleet/compose.yaml", import.meta.url);
  const { services } = parse(readFileSync(file, "utf8"), { merge: true });
  expect(Object.keys(services)).toEqual(["redis", "worker-1", "worker-2"]);
  expect(services.redis.command).toEqual(expect.arrayContaining(["--appendonly", "noeviction"]));
  for (const name of ["worker-1", "worker-2"]) {
    const [program, command, ...args] = services[name].command;
    expect([program, command, services[name].image]).toEqual(["flint", "worker", expect.any(String)]);
    expect(read(...args)).toMatchObject({ name, redis: "redis://redis:6379", concurrency: 2 });
  }
});
