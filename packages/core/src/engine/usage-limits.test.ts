import type { ReportedLimit, TurnError } from "@flint/protocol";
import { type Script, TestClock, testEngine, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { MemoryLimitStore, UsageLimits } from "../account/usage-limits.ts";

const HOUR = 3_600_000;
const limit = (more: Partial<ReportedLimit> = {}): ReportedLimit => ({
  window: "5 hours",
  status: "ok",
  source: "frame",
  ...more,
});
const report = (...limits: ReportedLimit[]) => ({ emit: { type: "limits", limits } as const });
const usedUp: TurnError = { message: "Used up.", errorInfo: "UsageLimitExceeded" };

async function play(...scripts: Script[]) {
  const server = testEngine({ scripts });
  const client = server.connect();
  const threadId = await client.startThread();
  const turns = [];
  for (const _script of scripts) turns.push(await client.runTurn(threadId, "go"));
  const known = async () => (await client.call("account/limits/read", {})).data;
  return { server, client, threadId, turns, known, now: server.clock.now() };
}

describe("the usage limits of an account", () => {
  verifies("S2-23", "are sent when an agent reports them, and can be read until they reset", async () => {
    const { server, client, threadId, known, now } = await play([
      report(limit({ usedPercent: 40, resetsAtMs: testNow() + HOUR, windowMinutes: 300 })),
      report(limit({ window: "7 days", usedPercent: 120 })),
    ]);
    const five = {
      ...{ agent: "scripted", window: "5 hours", windowMinutes: 300, usedPercent: 40 },
      ...{ resetsAtMs: now + HOUR, status: "ok", source: "frame", reportedAtMs: now },
    };
    const week = {
      ...{ agent: "scripted", window: "7 days", usedPercent: 100, status: "ok", source: "frame" },
      reportedAtMs: now,
    };
    expect(client.eventsOf("account/limits").map(({ data }) => data)).toEqual([
      { threadId, agent: "scripted", limits: [five] },
      { threadId, agent: "scripted", limits: [five, week] },
    ]);
    expect(await known()).toEqual([five, week]);
    await server.clock.advance(HOUR + 1);
    expect(await known()).toEqual([]);
  });

  test("the same report again is not sent again, and another agent's is not mixed in", async () => {
    const { client } = await play([report(limit({ usedPercent: 1 })), report(limit({ usedPercent: 1 }))]);
    expect(client.eventsOf("account/limits")).toHaveLength(1);
    expect((await client.call("account/limits/read", { agent: "other" })).data).toEqual([]);
  });

  test("without a reset are believed for an hour, those that need the user for a day", async () => {
    const { server, known } = await play([
      report(limit({ window: "a" }), limit({ window: "b", needsUser: true })),
    ]);
    const windows = async () => (await known()).map(({ window }) => window);
    await server.clock.advance(HOUR - 1);
    expect(await windows()).toEqual(["a", "b"]);
    await server.clock.advance(1);
    expect(await windows()).toEqual(["b"]);
    await server.clock.advance(23 * HOUR - 1);
    expect(await windows()).toEqual(["b"]);
    await server.clock.advance(1);
    expect(await windows()).toEqual([]);
  });

  test("are not believed after the clock was set back, when their report is from the future", async () => {
    const store = new MemoryLimitStore();
    const [later, now] = [new TestClock(), new TestClock()];
    await later.advance(2 * HOUR);
    const resetsAtMs = later.now() + HOUR;
    new UsageLimits(later, store).report("claude", [limit({ status: "reached", resetsAtMs })]);
    expect(new UsageLimits(later, store).known()).toHaveLength(1);
    expect(new UsageLimits(now, store).known()).toEqual([]);
  });

  test.each([
    ["long ago", -HOUR],
    ["years ahead", 3 * 365 * 24 * HOUR],
    ["not a number", Number.NaN],
  ])("a reset %s is left out", async (_when, offset) => {
    const { known } = await play([report(limit({ resetsAtMs: testNow() + offset, usedPercent: -3 }))]);
    const [only] = await known();
    expect(only).not.toHaveProperty("resetsAtMs");
    expect(only).not.toHaveProperty("usedPercent");
  });
});

describe("a turn that fails at a usage limit", () => {
  verifies("S0-84", "names the limit that its agent reported as reached", async () => {
    const resetsAtMs = testNow() + 2 * HOUR;
    const { turns } = await play([
      report(limit(), limit({ window: "7 days", status: "reached", resetsAtMs })),
      { fail: usedUp },
    ]);
    expect(turns[0]?.error).toMatchObject({
      ...usedUp,
      limit: { agent: "scripted", window: "7 days", status: "reached", resetsAtMs, source: "frame" },
    });
    expect(turns[0]?.error?.limit).not.toHaveProperty("guessed");
  });

  test("names the one of several that resets last", async () => {
    const at = (window: string, hours: number) =>
      limit({ window, status: "reached", resetsAtMs: testNow() + hours * HOUR });
    const { turns } = await play([
      report(at("5 hours", 2), at("7 days", 50), at("1 day", 9)),
      { fail: usedUp },
    ]);
    expect(turns[0]?.error?.limit?.window).toBe("7 days");
  });

  test("names one that needs the user rather than one that resets", async () => {
    const credits = limit({ window: "credits", status: "reached", needsUser: true });
    const week = limit({ window: "7 days", status: "reached", resetsAtMs: testNow() + 50 * HOUR });
    const { turns } = await play([report(credits, week), { fail: usedUp }]);
    expect(turns[0]?.error?.limit).toMatchObject({ window: "credits", needsUser: true });
  });

  test("names what its error says, marked as guessed, also if only the text tells", async () => {
    const message = "Claude AI usage limit reached|";
    const seconds = Math.floor(testNow() / 1000) + 600;
    const { turns, known } = await play([{ fail: { message: `${message}${seconds}`, errorInfo: "Other" } }]);
    const guess = { window: "usage", status: "reached", source: "text", guessed: true };
    expect(turns[0]?.error).toMatchObject({
      errorInfo: "UsageLimitExceeded",
      limit: { ...guess, resetsAtMs: seconds * 1000 },
    });
    expect(await known()).toMatchObject([{ ...guess, agent: "scripted" }]);
  });

  test("is distinguished from other failures", async () => {
    const { turns } = await play([
      report(limit({ status: "reached" })),
      { fail: { message: "It broke.", errorInfo: "InternalServerError" } },
    ]);
    expect(turns[0]?.error).toEqual({ message: "It broke.", errorInfo: "InternalServerError" });
  });
});

/** The time of a test clock before it is moved. */
function testNow(): number {
  return testEngine({ scripts: [] }).clock.now();
}
