import { describe, expect, test } from "vitest";
import { testSpec } from "../testing/spec.ts";
import { beyondCeiling, type WorkerCeiling } from "./ceiling.ts";

const CEILING: WorkerCeiling = {
  ...{ folders: ["/repo"], merge: ["none", "branch"], network: false, acceptApprovals: false },
};

const beyond = (change: Parameters<typeof testSpec>[0], more: Partial<WorkerCeiling> = {}) =>
  beyondCeiling(testSpec(change), { ...CEILING, ...more });

describe("the ceiling of a worker", () => {
  test.each([
    ["a folder beside the allowed one", { cwd: "/repository" }, "work in /repository"],
    ["a folder above the allowed one", { cwd: "/repo/../etc" }, "work in /repo/../etc"],
    ["another way to merge", { merge: "squash" }, "merge by squash"],
    ["hosts", { network: "all" }, "allow hosts"],
    ["to accept approvals", { approvals: "accept" }, "accept every approval"],
  ] as const)("does not let a task have %s", (_what, change, problem) => {
    expect(beyond(change)).toContain(problem);
  });

  test("lets a task have what is within it", () => {
    expect(beyond({ cwd: "/repo/packages/a" })).toBeUndefined();
    expect(beyond({ budget: { seconds: 60, costUsd: 1 } }, { seconds: 60, costUsd: 1 })).toBeUndefined();
  });

  test("limits time and cost, also of a task that does not limit its own cost", () => {
    expect(beyond({ budget: { seconds: 61 } }, { seconds: 60 })).toContain("work for 61 s");
    expect(beyond({ budget: { seconds: 60 } }, { costUsd: 1 })).toBe("cost more than $1");
  });

  describe("of agents", () => {
    const agents = ["claude", "codex"];

    test("applies to every role", () => {
      expect(beyond({}, { agents })).toBeUndefined();
      expect(beyond({}, { agents: ["claude"] })).toBe("use the agent codex; allowed are claude");
      expect(beyond({ executors: [{ model: "claude/opus" }, { model: "gemini" }] }, { agents })).toContain(
        "use the agent gemini",
      );
    });

    test("applies to a role that names no model: it gets the default one", () => {
      const unnamed = { executors: [{}] };
      expect(beyond(unnamed, { agents, defaultModel: "codex/gpt" })).toBeUndefined();
      expect(beyond(unnamed, { agents, defaultModel: "gemini/pro" })).toContain("use the agent gemini");
      expect(beyond(unnamed, { agents })).toBe("use any agent; allowed are claude, codex");
      expect(beyond({ reviewers: [{}] }, { agents })).toContain("use any agent");
      expect(beyond(unnamed)).toBeUndefined();
    });
  });
});
