import { expect, test } from "vitest";
import { PendingAnswers } from "./pending-answers.ts";

function pending() {
  const cancelled: string[] = [];
  const answers = new PendingAnswers<string>("approval");
  const add = (id: string, turnId: string) =>
    answers.add(id, { turnId, itemId: "i", cancelTimeout: () => cancelled.push(id) });
  return { answers, add, cancelled };
}

test("takes a request once, and cancels its time limit", async () => {
  const { answers, add, cancelled } = pending();
  const answer = add("a", "turn");
  answers.take("a").settle("yes");
  expect(await answer).toBe("yes");
  expect(cancelled).toEqual(["a"]);
  expect(() => answers.take("a")).toThrow("No open approval a; it may have been answered already.");
});

test("settles the open requests of a turn, and no others", async () => {
  const { answers, add, cancelled } = pending();
  const [first, second] = [add("a", "one"), add("b", "one")];
  const other = add("c", "two");
  answers.settleTurn("one", "over");
  expect(await Promise.all([first, second])).toEqual(["over", "over"]);
  expect(cancelled).toEqual(["a", "b"]);
  answers.take("c").settle("yes");
  expect(await other).toBe("yes");
});
