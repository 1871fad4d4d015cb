import { expect, test } from "vitest";
import { PendingAnswers } from "./pending-answers.ts";

function waiting() {
  const cancelled: string[] = [];
  const answers = new PendingAnswers<string>("approval");
  const add = (id: string, turnId: string) =>
    answers.add(id, { turnId, itemId: "i", cancelTimeout: () => cancelled.push(id) });
  return { answers, add, cancelled };
}

test("each is taken once, and its time limit with it", async () => {
  const { answers, add, cancelled } = waiting();
  const answer = add("a", "turn");
  answers.take("a").settle("yes");
  expect(await answer).toBe("yes");
  expect(cancelled).toEqual(["a"]);
  expect(() => answers.take("a")).toThrow("No open approval a; it may have been answered already.");
});

test("the end of a turn answers what it left open, and nothing of others", async () => {
  const { answers, add, cancelled } = waiting();
  const [first, second] = [add("a", "one"), add("b", "one")];
  const other = add("c", "two");
  answers.settleTurn("one", "over");
  expect(await Promise.all([first, second])).toEqual(["over", "over"]);
  expect(cancelled).toEqual(["a", "b"]);
  answers.take("c").settle("yes");
  expect(await other).toBe("yes");
});
