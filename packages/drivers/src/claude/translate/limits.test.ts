import { decodeClaudeFrame } from "@flint/protocol/claude";
import { describe, expect, test } from "vitest";
import { step } from "../translate.ts";
import { limitsOf } from "./limits.ts";
import { beginTurn } from "./state.ts";

/** A frame as Claude Code writes it while requests are allowed. */
const ALLOWED = {
  ...{ status: "allowed", resetsAt: 1_790_494_200, rateLimitType: "five_hour" },
  ...{ overageStatus: "rejected", overageDisabledReason: "org_level_disabled", isUsingOverage: false },
};

describe("the limits of Claude", () => {
  test("are reported while requests are allowed, nearly used, and rejected", () => {
    const five = { window: "5 hours", windowMinutes: 300, resetsAtMs: 1_790_494_200_000, source: "frame" };
    expect(limitsOf(ALLOWED)).toEqual([{ ...five, status: "ok" }]);
    expect(limitsOf({ ...ALLOWED, status: "allowed_warning", utilization: 0.92 })).toEqual([
      { ...five, usedPercent: 92, status: "warning" },
    ]);
    expect(limitsOf({ ...ALLOWED, status: "rejected" })).toEqual([{ ...five, status: "reached" }]);
  });

  test("a time in milliseconds is the same time", () => {
    expect(limitsOf({ ...ALLOWED, resetsAt: 1_790_494_200_000 })).toEqual(limitsOf(ALLOWED));
  });

  test("those of one model are limits of their own", () => {
    expect(limitsOf({ ...ALLOWED, rateLimitType: "seven_day_opus" })).toMatchObject([
      { window: "7 days", model: "opus" },
    ]);
    expect(limitsOf({ ...ALLOWED, rateLimitType: "brand_new" })).toMatchObject([{ window: "brand new" }]);
  });

  test("newer versions send all windows at once", () => {
    const unifiedWindows = {
      five_hour: { utilization: 0.2, resetsAt: 1_790_494_200 },
      seven_day: { utilization: 0.95, resetsAt: 1_790_994_200 },
    };
    expect(limitsOf({ ...ALLOWED, utilization: 0.2, unifiedWindows })).toMatchObject([
      { window: "7 days", usedPercent: 95, status: "warning" },
      { window: "5 hours", usedPercent: 20, status: "ok" },
    ]);
  });

  describe.each(["credits_required", "out_of_credits", "billing_error"])("of missing credit (%s)", (name) => {
    test("needs the user, not time", () => {
      expect(limitsOf({ status: "rejected", errorCode: name })).toEqual([
        { window: "usage", status: "reached", source: "frame", needsUser: true },
      ]);
    });

    test("is known from the message that fails for it", () => {
      const line = JSON.stringify({
        ...{ type: "assistant", uuid: "u", session_id: "s", error: name },
        message: {
          id: "m",
          role: "assistant",
          content: [{ type: "text", text: "Credit balance is too low" }],
        },
      });
      const decoded = decodeClaudeFrame(line);
      if (!decoded.ok) throw new Error(decoded.reason);
      const [, events] = step(beginTurn("turn", "/code", undefined), decoded.frame);
      expect(events[0]).toEqual({
        type: "limits",
        limits: [{ window: "credits", status: "reached", source: "frame", needsUser: true }],
      });
    });
  });

  test("a frame without anything readable reports nothing", () => {
    expect(limitsOf({})).toEqual([]);
    expect(limitsOf({ status: "allowed" })).toEqual([]);
    expect(limitsOf({ status: 7, resetsAt: "now", rateLimitType: [] })).toEqual([]);
  });

  test("[S2-23] a frame becomes limits, and is passed on as it came", () => {
    const line = JSON.stringify({
      type: "rate_limit_event",
      rate_limit_info: ALLOWED,
      uuid: "u",
      session_id: "s",
    });
    const decoded = decodeClaudeFrame(line);
    if (!decoded.ok) throw new Error(decoded.reason);
    const [, events] = step(beginTurn("turn", "/code", undefined), decoded.frame);
    expect(events).toEqual([
      { type: "limits", limits: limitsOf(ALLOWED) },
      { type: "extension", method: "anthropic/rate_limit_event", params: { rate_limit_info: ALLOWED } },
    ]);
  });
});
