import type { ThreadSettings } from "@flint/protocol";
import { RecordingTurn } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { FakeCodex, fakeSession, SETTINGS } from "./testing/fake-codex.ts";

/** The requests that a turn with these selectors makes Codex receive, from the first that begins the turn. */
async function beginning(config: ThreadSettings["config"]): Promise<unknown> {
  const fake = new FakeCodex();
  const turn = { id: "turn-1", status: "inProgress", items: [] };
  fake.answers.set("review/start", { turn, reviewThreadId: "thread-1" });
  fake.answers.set("thread/settings/update", {});
  const { opened } = await fakeSession(fake, onTestFinished);
  const outcome = opened.run(
    new RecordingTurn({ text: "the last commit", settings: { ...SETTINGS, config } }),
  );
  const { method, params } = await fake.received(({ method }) =>
    ["turn/start", "review/start"].includes(String(method)),
  );
  fake.endTurn();
  await outcome;
  return { method, params };
}

test("[S0-76] a prompt in the collaboration mode review starts a review of what it names", async () => {
  expect(await beginning({ collaboration_mode: "review" })).toEqual({
    method: "review/start",
    params: {
      ...{ threadId: "thread-1", delivery: "inline" },
      target: { type: "custom", instructions: "the last commit" },
    },
  });
});

test("a prompt in any other mode starts a turn", async () => {
  for (const config of [{}, { collaboration_mode: "default" }, { collaboration_mode: "plan" }])
    expect(await beginning(config)).toMatchObject({ method: "turn/start" });
});
