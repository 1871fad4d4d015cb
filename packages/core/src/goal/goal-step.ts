import {
  type Goal,
  type GoalPursuit,
  type GoalStatus,
  goalInstruction,
  isKnownItem,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/** The step that follows the latest turn of a thread whose goal is pursued. */
export type GoalStep =
  | { readonly do: "prompt"; readonly goal: Goal; readonly text: string }
  | { readonly do: "check"; readonly command: string }
  | { readonly do: "end"; readonly goal: Goal };

/** Decides what the goal of a thread asks for next; undefined if that is nothing. */
export function goalStep(state: ThreadState): GoalStep | undefined {
  const { goal } = state;
  const turn = state.turns.at(-1);
  if (goal?.status !== "active" || goal.pursuit === undefined || turn === undefined) return undefined;
  const isCheck = turn._meta?.goalCheck === true;
  if (turn.status === "inProgress" || (turn.kind !== "prompt" && !isCheck)) return undefined;
  const stopped = stopOf(turn);
  if (stopped !== undefined) return ended(goal, ...stopped);
  const { check } = goal.pursuit;
  if (isCheck && exitCodeOf(turn) === 0) return ended(goal, "complete", `${check} succeeded.`);
  if (!isCheck && check !== undefined) return { do: "check", command: check };
  const said = check === undefined ? lastWord(turn) : undefined;
  if (said !== undefined) return ended(goal, ...said);
  const limit = reachedLimit(state, goal, goal.pursuit);
  if (limit !== undefined) return ended(goal, "budgetLimited", limit);
  const pursuit = { ...goal.pursuit, turns: goal.pursuit.turns + 1 };
  const text = `The goal is not reached yet. Continue with it: ${goal.objective}\n${goalInstruction(goal)}`;
  return { do: "prompt", goal: { ...goal, pursuit }, text };
}

/** The goal with a new status and why it has it. */
export function ended(goal: Goal, status: GoalStatus, reason: string): GoalStep {
  return { do: "end", goal: { ...goal, status, reason } };
}

/**
 * The reason a turn that did not complete ends the pursuit: a user who interrupts decides, and so does one
 * who sees a failure.
 */
function stopOf({ status, error }: Turn): [GoalStatus, string] | undefined {
  if (status === "interrupted") return ["paused", "The turn was interrupted."];
  if (status !== "failed") return undefined;
  const message = error?.message ?? "The turn failed.";
  if (error?.errorInfo === "UsageLimitExceeded") return ["usageLimited", message];
  return [error?.errorInfo === "BudgetExceeded" ? "budgetLimited" : "blocked", message];
}

function exitCodeOf({ items }: Turn): number | undefined {
  const [item] = items
    .filter(isKnownItem)
    .flatMap((each) => (each.type === "commandExecution" ? [each] : []));
  return item?.exitCode;
}

const LAST_WORD = /^\W*GOAL (REACHED|BLOCKED)\b\W*(.*)$/m;

/** Returns the verdict on the goal in the agent's last message. */
function lastWord({ items }: Turn): [GoalStatus, string] | undefined {
  const said = items.filter(isKnownItem).flatMap((each) => (each.type === "agentMessage" ? [each.text] : []));
  const [, word, why = ""] = LAST_WORD.exec(said.at(-1) ?? "") ?? [];
  if (word === undefined) return undefined;
  const reason = why.trim() === "" ? "The agent says so." : `The agent says: ${why.trim().slice(0, 500)}`;
  return [word === "REACHED" ? "complete" : "blocked", reason];
}

/** The first limit that is used up, as a sentence. */
function reachedLimit(state: ThreadState, goal: Goal, pursuit: GoalPursuit): string | undefined {
  const { maxTurns, turns, maxSeconds, maxCostUsd, costBefore } = pursuit;
  if (turns >= maxTurns) return `It was not reached within ${maxTurns} further turns.`;
  if (goal.tokenBudget !== undefined && goal.tokensUsed >= goal.tokenBudget)
    return `Its ${goal.tokenBudget} tokens are used up.`;
  if (maxSeconds !== undefined && goal.timeUsedSeconds >= maxSeconds)
    return `Its ${maxSeconds} seconds of work are used up.`;
  const cost = (state.cost?.amount ?? 0) - costBefore;
  return maxCostUsd !== undefined && cost >= maxCostUsd ? `Its $${maxCostUsd} are used up.` : undefined;
}
