import type { Answers, TurnError, UserQuestion } from "@flint/protocol";
import { counted, describeLimit, nameOf, type Reached } from "./limits.ts";

const QUESTION_ID = "budget";
const CONTINUE = "Continue";
const STOP = "Stop";

/** The question to the user when limits are used up. */
export function budgetQuestion(reached: readonly Reached[]): UserQuestion {
  const more = reached.map(({ unit, amount }) => counted(unit, amount)).join(" and ");
  return {
    id: QUESTION_ID,
    header: "Budget",
    question: `${describeAll(reached)}. Continue?`,
    options: [
      { label: CONTINUE, description: `Allows the same again: ${more}.` },
      { label: STOP, description: "Ends the turn here." },
    ],
  };
}

/** The user's answer. Anything but a clear yes is a no. */
export function budgetAnswer(answers: Answers): "continue" | "stop" | "none" {
  const given = Object.hasOwn(answers, QUESTION_ID) ? answers[QUESTION_ID]?.answers : undefined;
  if (given === undefined || given.length === 0) return "none";
  return given.length === 1 && given[0] === CONTINUE ? "continue" : "stop";
}

/** The error of a turn that was stopped, with the way out. */
export function budgetError(reached: readonly Reached[], why: string): TurnError {
  const names = reached.map(nameOf).join(" or ");
  const message = `${describeAll(reached)} and was stopped: ${why} Raise ${names} to allow more.`;
  return { message, errorInfo: "BudgetExceeded" };
}

function describeAll(reached: readonly Reached[]): string {
  const each = reached.map((one) =>
    one.scope === "thread" ? `${describeLimit(one)} for the whole thread` : describeLimit(one),
  );
  return `The turn has reached ${each.join(" and ")}`;
}
