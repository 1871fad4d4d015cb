import { RecordingTurn, TestClock, testEngine } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { CodexDriver } from "./driver.ts";
import { FakeCodex, fakeSession, SETTINGS, TURN_IDS } from "./testing/fake-codex.ts";

const seconds = Math.floor(Date.now() / 1000) + 3_600;
const primary = { usedPercent: 100, windowDurationMins: 300, resetsAt: seconds };
const reached = { limitId: "codex", primary, secondary: null, rateLimitReachedType: "rate_limit_reached" };

const usedUp = {
  method: "error",
  params: {
    ...TURN_IDS,
    willRetry: false,
    error: { message: "You've hit your usage limit.", codexErrorInfo: "usageLimitExceeded" },
  },
};

const fiveHours = {
  ...{ window: "5 hours", windowMinutes: 300, usedPercent: 100, resetsAtMs: seconds * 1000 },
  ...{ status: "reached", source: "frame" },
};

test("[S2-23] [S0-86] an update of Codex is reported as limits, and passed on as it came", async () => {
  const fake = new FakeCodex();
  const { opened } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings: SETTINGS });
  const outcome = opened.run(turn);
  await fake.received(({ method }) => method === "turn/start");
  fake.send({ method: "account/rateLimits/updated", params: { rateLimits: reached } });
  fake.endTurn();
  await outcome;
  expect(turn.events).toContainEqual({ type: "limits", limits: [fiveHours] });
  expect(turn.events).toContainEqual({
    ...{ type: "extension", method: "openai/account/rateLimits/updated" },
    params: { rateLimits: reached },
  });
});

test("[S0-84] Codex is asked when a used-up limit resets, because its error does not tell", async () => {
  const fake = new FakeCodex();
  fake.answers.set("account/rateLimits/read", { rateLimits: reached, rateLimitsByLimitId: null });
  const program = async () => ({ command: ["codex"], environment: {} });
  const driver = new CodexDriver({ program, version: "1.2.3", sandbox: fake }, { stop: 100 });
  onTestFinished(() => driver.close());
  const clock = new TestClock(Date.now());
  const server = testEngine({ otherDrivers: [driver], sandbox: fake, allowUnconfined: true, clock });
  const client = server.connect();
  expect((await client.call("account/limits/read", {})).data).toEqual([]);
  expect(fake.starts).toHaveLength(0);
  const { thread } = await client.call("thread/start", {
    model: "codex/default",
    sandbox: { type: "dangerFullAccess" },
  });
  await client.call("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go" }] });
  await fake.received(({ method }) => method === "turn/start");
  fake.send(usedUp);
  fake.endTurn("failed");
  const { data } = await client.waitFor("turn/completed");
  expect(data.turn.error).toMatchObject({
    errorInfo: "UsageLimitExceeded",
    limit: { agent: "codex", ...fiveHours },
  });
  expect((await client.call("account/limits/read", {})).data).toMatchObject([
    { agent: "codex", ...fiveHours },
  ]);
});
