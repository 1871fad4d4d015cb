import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Interruption } from "./interrupt.ts";

function setUp() {
  const heard: string[] = [];
  const interruption = new Interruption({
    interrupting: (signal) => heard.push(`interrupting ${signal}`),
    leave: (signal) => heard.push(`leave ${signal}`),
  });
  return { heard, interruption, source: new EventEmitter() };
}

test("once stops the turn, twice leaves", () => {
  const { heard, interruption, source } = setUp();
  interruption.listen(source);
  source.emit("SIGINT");
  expect([interruption.signal.aborted, interruption.cause]).toEqual([true, "SIGINT"]);
  source.emit("SIGTERM");
  expect(heard).toEqual(["interrupting SIGINT", "leave SIGTERM"]);
});

test("a reader that is gone stops the turn without a word", () => {
  const { heard, interruption } = setUp();
  interruption.loseOutput("readerGone");
  expect([interruption.signal.aborted, interruption.cause, heard]).toEqual([true, "SIGPIPE", []]);
});

test.each([
  ["readerGone", "SIGPIPE"],
  ["terminalClosed", "SIGHUP"],
  ["unwritable", "outputFailed"],
] as const)(
  "%s stops the turn as %s, and the first signal after it does not leave at once",
  (loss, cause) => {
    const { heard, interruption, source } = setUp();
    interruption.listen(source);
    interruption.loseOutput(loss);
    source.emit("SIGHUP");
    expect([interruption.cause, heard]).toEqual([cause, ["interrupting SIGHUP"]]);
  },
);

test("nothing listens any more when it is over", () => {
  const { interruption, source } = setUp();
  interruption.listen(source)();
  expect(source.eventNames()).toEqual([]);
});
