import type { CodexRateLimits } from "@flint/protocol/codex";
import { describe, expect, test } from "vitest";
import { limitsIn, limitsOf } from "./limits.ts";

/** As Codex 0.166.0 sends it without an account. */
const EMPTY: CodexRateLimits = {
  ...{ limitId: "codex", limitName: null, normalModelSlug: null, primary: null, secondary: null },
  ...{ credits: null, individualLimit: null, spendControlReached: null, planType: null },
  rateLimitReachedType: null,
};
const FIVE = { usedPercent: 91, windowDurationMins: 300, resetsAt: 1_790_494_200 };
const WEEK = { usedPercent: 12, windowDurationMins: 10_080, resetsAt: 1_790_994_200 };

describe("the rate limits of Codex", () => {
  test("without an account there are none", () => {
    expect(limitsOf(EMPTY)).toEqual([]);
  });

  test("are named by the duration of their window, whatever slot it is in", () => {
    const week = { window: "7 days", windowMinutes: 10_080, usedPercent: 12, status: "ok" };
    const five = { window: "5 hours", windowMinutes: 300, usedPercent: 91, status: "warning" };
    expect(limitsOf({ ...EMPTY, primary: WEEK, secondary: FIVE })).toEqual([
      { ...week, resetsAtMs: 1_790_994_200_000, source: "frame" },
      { ...five, resetsAtMs: 1_790_494_200_000, source: "frame" },
    ]);
  });

  test("a reached limit is the window that is used up, else the fullest one", () => {
    const reached = { ...EMPTY, primary: FIVE, secondary: WEEK, rateLimitReachedType: "rate_limit_reached" };
    expect(limitsOf(reached).map(({ status }) => status)).toEqual(["reached", "ok"]);
    const full = { ...reached, secondary: { ...WEEK, usedPercent: 100 } };
    expect(limitsOf(full).map(({ status }) => status)).toEqual(["warning", "reached"]);
    expect(limitsOf({ ...EMPTY, rateLimitReachedType: "rate_limit_reached" })).toMatchObject([
      { window: "usage", status: "reached" },
    ]);
  });

  test("a limit of used-up credit needs the user, not time", () => {
    const rateLimitReachedType = "workspace_member_credits_depleted";
    expect(limitsOf({ ...EMPTY, primary: WEEK, rateLimitReachedType })).toMatchObject([
      { window: "7 days", status: "ok" },
      { window: "credits", status: "reached", needsUser: true },
    ]);
  });

  test("an answer has the limits of all models", () => {
    const other = { ...EMPTY, limitId: "codex_other", limitName: "Spark", primary: WEEK };
    const byId = { codex: { ...EMPTY, primary: FIVE }, codex_other: other };
    expect(limitsIn({ rateLimits: EMPTY, rateLimitsByLimitId: byId })).toMatchObject([
      { window: "5 hours" },
      { window: "7 days", model: "Spark" },
    ]);
    expect(limitsIn({ rateLimits: { ...EMPTY, primary: FIVE }, rateLimitsByLimitId: null })).toHaveLength(1);
  });
});
