import type { Answers, TurnError, UserQuestion } from "@flint/protocol";
import { counted, inWords, nameOf, type Reached } from "./limits.ts";

const QUESTION_ID = "budget";
const GO_ON = "Go on";
const STOP = "Stop";

/** What the user is asked when limits are used up. */
export function budgetQuestion(reached: readonly Reached[]): UserQuestion {
  const more = reached.map(({ unit, amount }) => counted(unit, amount)).join(" and ");
  return {
    id: QUESTION_ID,
    header: "Budget",
    question: `${allInWords(reached)}. Go on?`,
    options: [
      { label: GO_ON, description: `Allows the same again: ${more}.` },
      { label: STOP, description: "Ends the turn here." },
    ],
  };
}

/** What the user said. Whatever is not plainly a yes is a no. */
export function budgetAnswer(answers: Answers): "goOn" | "stop" | "nobody" {
  const given = Object.hasOwn(answers, QUESTION_ID) ? answers[QUESTION_ID]?.answers : undefined;
  if (given === undefined || given.length === 0) return "nobody";
  return given.length === 1 && given[0] === GO_ON ? "goOn" : "stop";
}

/** Why the turn ended, and the way out. */
export function budgetError(reached: readonly Reached[], why: string): TurnError {
  const names = reached.map(nameOf).join(" or ");
  const message = `${allInWords(reached)} and was stopped: ${why} Raise ${names} to allow more.`;
  return { message, errorInfo: "BudgetExceeded" };
}

function allInWords(reached: readonly Reached[]): string {
  const each = reached.map((one) =>
    one.scope === "thread" ? `${inWords(one)} for the whole thread` : inWords(one),
  );
  return `The turn has reached ${each.join(" and ")}`;
}
