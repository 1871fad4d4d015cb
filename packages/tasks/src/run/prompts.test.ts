import type { TaskEventBody, TaskState } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { afterLost, afterTurn, afterVerdict, leased, startRound } from "../decide/run.ts";
import { after, completed, context, executing, judged } from "../testing/task.ts";
import { executorPrompt } from "./prompts.ts";

const THREAD = { threadId: "thread-1", worker: "w1" };
const TURN = { ...THREAD, turnId: "turn-1" };

const inTurn = (turn: typeof THREAD): TaskEventBody => ({
  type: "round/turn",
  data: { role: "executor", turn },
});

/** The task once another run has taken it over and started the turn again. */
function takenOver(state: TaskState): TaskState {
  const run = { runId: "run-2", worker: "w1", fence: 3, leaseId: "lease-2" };
  const next = after(state, [...afterLost(state, 2, context), ...leased(run)]);
  return after(next, startRound(next, context));
}

describe("the executor's prompt", () => {
  test("is the task if the first run was lost before its turn started", () => {
    const lost = takenOver(after(executing(), [inTurn(THREAD)]));
    expect(lost.executorThread).toEqual(THREAD);
    expect(executorPrompt(lost)).toBe("Port the config module");
  });

  test("says that a run was lost in its turn, and does not repeat the task in the same thread", () => {
    const lost = takenOver(after(executing(), [inTurn(THREAD), inTurn(TURN)]));
    expect(executorPrompt(lost)).toMatch(
      /^You were interrupted by a crash or a lost connection at 2027-.*Look at the state of the work tree/,
    );
    const again = takenOver(after(lost, [inTurn(THREAD)]));
    expect(executorPrompt(again)).not.toContain("Port the config module");
  });

  test("is only the findings in a later round, even if a run is lost before that round's turn", () => {
    const first = executing({ checks: [{ command: "npm test" }] });
    const done = after(first, [inTurn(THREAD), inTurn(TURN)]);
    const executed = after(done, afterTurn(done, completed(), context));
    const checked = after(executed, [{ type: "round/checked", data: { results: [], findings: [] } }]);
    const finding = { id: "x", severity: "major", what: "loses data" } as const;
    const rejected = after(checked, afterVerdict(checked, judged({ findings: [finding] }), context));
    const second = after(rejected, startRound(rejected, context));
    const lost = takenOver(after(second, [inTurn(THREAD)]));
    expect(lost.rounds).toHaveLength(2);
    expect(executorPrompt(lost)).toContain("loses data");
    expect(executorPrompt(lost)).not.toMatch(/Port the config module|npm test|interrupted/);
  });
});
