import type { TurnContext } from "@flint/core/ports";
import { RecordingTurn } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { contextOf } from "./testing/codex-bench.ts";
import { FakeCodex } from "./testing/fake-codex.ts";
import { fakeSession, PLACE, SETTINGS } from "./testing/fake-session.ts";

/** Where Codex stands after a turn that ended so, as it is told. */
async function positionsAfter(status: string, more: Partial<TurnContext> = {}) {
  const fake = new FakeCodex();
  const turnOfReview = { id: PLACE.turnId, status: "inProgress", items: [] };
  fake.answers.set("thread/settings/update", {});
  fake.answers.set("review/start", { turn: turnOfReview, reviewThreadId: PLACE.threadId });
  const { opened } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const ended = opened.run({ ...contextOf(turn), ...more });
  await fake.told(({ method }) => method === "turn/start" || method === "review/start");
  fake.endTurn(status);
  await ended;
  return turn.events.filter(({ type }) => type === "position");
}

test("where a turn ends in Codex's own thread is told, so that a fork can begin there", async () => {
  expect(await positionsAfter("completed")).toEqual([{ type: "position", position: PLACE.turnId }]);
});

test.each(["interrupted", "failed"])("it is not told of a turn that was %s", async (status) => {
  expect(await positionsAfter(status)).toEqual([]);
});

test("it is not told of a review, which Codex keeps by another name", async () => {
  const review = { type: "uncommittedChanges" } as const;
  expect(await positionsAfter("completed", { kind: "review", review })).toEqual([]);
});
