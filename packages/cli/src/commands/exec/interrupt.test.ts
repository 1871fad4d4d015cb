import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Interruption } from "./interrupt.ts";

function setUp() {
  const calls: string[] = [];
  const interruption = new Interruption({
    interrupting: (signal) => calls.push(`interrupting ${signal}`),
    exitNow: (signal) => calls.push(`exitNow ${signal}`),
  });
  return { calls, interruption, source: new EventEmitter() };
}

test("interrupts the turn first, then exits", () => {
  const { calls, interruption, source } = setUp();
  interruption.listen(source);
  source.emit("SIGINT");
  expect([interruption.signal.aborted, interruption.cause]).toEqual([true, "SIGINT"]);
  source.emit("SIGTERM");
  expect(calls).toEqual(["interrupting SIGINT", "exitNow SIGTERM"]);
});

test("stops the turn silently when the output pipe closes", () => {
  const { calls, interruption } = setUp();
  interruption.loseOutput("readerGone");
  expect([interruption.signal.aborted, interruption.cause, calls]).toEqual([true, "SIGPIPE", []]);
});

test.each([
  ["readerGone", "SIGPIPE"],
  ["terminalClosed", "SIGHUP"],
  ["unwritable", "outputFailed"],
] as const)(
  "%s stops the turn as %s, and the first signal after it does not exitNow at once",
  (loss, cause) => {
    const { calls, interruption, source } = setUp();
    interruption.listen(source);
    interruption.loseOutput(loss);
    source.emit("SIGHUP");
    expect([interruption.cause, calls]).toEqual([cause, ["interrupting SIGHUP"]]);
  },
);

test("removes its listeners at the end", () => {
  const { interruption, source } = setUp();
  interruption.listen(source)();
  expect(source.eventNames()).toEqual([]);
});
