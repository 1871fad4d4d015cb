import { describe, expect, test } from "vitest";
import {
  checkHostileRequest,
  checkHostileStart,
  checkHostileTurn,
  describeHostileAgent,
  type MakeHostile,
} from "./hostile-agent.ts";
import { ASKS_LATE, type LineFault, lineDriver, MID_TURN } from "./testing/line-driver.ts";

function making(fault?: LineFault): MakeHostile {
  return async ({ command, clock, folder }) => ({
    driver: lineDriver(command, clock, fault),
    settings: {
      model: "line/one",
      cwd: folder,
      approvalPolicy: "always",
      sandboxPolicy: { type: "readOnly" },
      config: {},
    },
    ...(fault === "ignoresInterrupt" ? { stopsWithinMs: 100 } : {}),
  });
}

describeHostileAgent("a driver of a made-up wire", making(), { midTurn: MID_TURN, asksLate: ASKS_LATE });

describe("the suite of bad agents", () => {
  test("finds a driver without a time limit", async () => {
    const check = checkHostileStart("never answers", making("waitsForEver"), 200);
    await expect(check).rejects.toThrow("did not give up");
  });

  test("finds a driver that buffers everything an agent wrote", async () => {
    const check = checkHostileStart("writes 100 MB to stderr", making("keepsAllWords"));
    await expect(check).rejects.toThrow("the length of the message");
  });

  test("finds a driver that does not report why its agent ended", async () => {
    const check = checkHostileTurn("exits at once with an error", making("hidesWords"), MID_TURN);
    await expect(check).rejects.toThrow("to match /no such account/");
  });

  test("finds a driver that does not stop", async () => {
    const check = checkHostileTurn("never answers", making("ignoresInterrupt"), MID_TURN);
    await expect(check).rejects.toThrow("the turn did not stop");
  });

  test("finds a driver that emits events after the end", async () => {
    const check = checkHostileTurn("never answers", making("talksOn"), MID_TURN);
    await expect(check).rejects.toThrow("reported after the end");
  });

  test("finds a driver that asks on behalf of a turn that is over", async () => {
    const check = checkHostileRequest(making("asksLate"), ASKS_LATE, 500);
    // What it then gets for an answer depends on whether the turn was already put away.
    await expect(check).rejects.toThrow(/what was asked for|not refused/);
  });
});
