import { type Approval, emptyThread, type QuestionRequest } from "@flint/protocol";
import { expect, test } from "vitest";
import { asksOf, asksOfAll } from "./asks.ts";

const times = { expiresAtMs: 9_000, turnId: "turn" };
const approval: Approval = {
  ...{ id: "a", requestedAtMs: 2_000, agent: "claude", ...times },
  action: {
    kind: "command",
    itemId: "c",
    command: "curl\u00a0x",
    cwd: "/repo",
    needs: { network: { hosts: ["x"] } },
    why: "to fetch it",
  },
};
const question: QuestionRequest = {
  ...{ id: "q", itemId: "i", requestedAtMs: 1_000, ...times },
  questions: [{ id: "colour", question: "Which?", options: [{ label: "red" }] }],
};
const budget: QuestionRequest = {
  ...{ id: "b", itemId: "i", requestedAtMs: 3_000, ...times },
  questions: [{ id: "budget", header: "Budget", question: "Continue?" }],
};

const first = { ...emptyThread("one"), approvals: [approval], questions: [question] };
const second = { ...emptyThread("two"), questions: [budget] };

test("lists what waits, oldest first, with its exact subject and what each choice grants", () => {
  const [asked, action] = asksOf(first);
  expect(asked).toMatchObject({ kind: "question", about: "agent", threadId: "one", thread: "one" });
  if (action?.kind !== "approval") throw new Error("expected an approval");
  expect(action.agent).toBe("claude");
  expect(action.prompt.subject).toEqual([{ text: "curl\u00a0x", emphasis: "strong", exact: true }]);
  expect(action.prompt.why).toBe("to fetch it");
  expect(action.prompt.choices.map(({ key }) => key)).toEqual(expect.arrayContaining(["y", "s", "n"]));
});

test("lists open requests of several threads, and names a limit that is reached", () => {
  expect(asksOfAll([second, first]).map(({ id }) => id)).toEqual(["q", "a", "b"]);
  expect(asksOf(second)[0]).toMatchObject({ kind: "question", about: "budget" });
});

test("what still waits is the same object as before", () => {
  expect(asksOf({ ...first, questions: [] })[0]).toBe(asksOf(first)[1]);
});
