import { TestClock } from "@flint/testkit";
import { lineOf, TurnTally } from "@flint/tui/draw";
import { FakeTerminal } from "@flint/tui/testing";
import { expect, test } from "vitest";
import { LiveView } from "./live.ts";

const place = { threadId: "t", turnId: "u" };

function setUp(size = { columns: 60, rows: 12 }) {
  const clock = new TestClock();
  const terminal = new FakeTerminal(size.columns);
  const tally = new TurnTally();
  const look = () => ({ ...size, colour: true, unicode: true });
  const view = new LiveView({
    write: terminal.write,
    look,
    clock,
    cwd: "/",
    tally,
    hint: "Ctrl-C to interrupt",
  });
  return { clock, terminal, view, tally };
}

const end = {
  status: "completed",
  elapsedMs: 1_500,
  tokens: 10,
  files: 1,
  text: "",
  resumeWith: "flint exec --resume t",
} as const;

test("shows the first line at once", () => {
  const { terminal, view } = setUp();
  expect(terminal.text).toContain("Starting · 0s · Ctrl-C to interrupt");
  view.close();
});

test("updates time and tokens while nothing happens", async () => {
  const { clock, terminal, view, tally } = setUp();
  const used = { inputTokens: 1_500, outputTokens: 20 };
  tally.count({
    type: "thread/tokenUsage/updated",
    data: { ...place, usage: used, last: used, cost: { amount: 0.02, currency: "USD" } },
  });
  await clock.advance(65_000);
  expect(terminal.text).toContain("1m 05s · 1.5k tokens · $0.020");
  view.close();
});

test("ends with the summary and nothing else", async () => {
  const { clock, terminal, view } = setUp();
  view.show({
    type: "item/started",
    data: {
      ...place,
      item: { type: "commandExecution", id: "c", command: "sleep 9", cwd: "/", status: "inProgress" },
    },
  });
  view.show({
    type: "item/agentMessage/delta",
    data: { ...place, itemId: "m", delta: "Half a sent", offset: 0 },
  });
  await clock.advance(500);
  view.end(end);
  view.close();
  expect(terminal.text).toBe(
    "Half a sent\n\n✓ Done in 1.5s · 10 tokens · 1 file changed\n  Continue: flint exec --resume t",
  );
  expect([terminal.cursorShown, clock.pending]).toEqual([true, 0]);
});

test("the clock stands still while the user is asked", async () => {
  const { clock, terminal, view } = setUp();
  await clock.advance(3_000);
  view.prompt(lineOf("Allow it?"));
  await clock.advance(20_000);
  view.prompt(lineOf("Why not?"));
  await clock.advance(40_000);
  view.prompt(undefined);
  expect(terminal.text).toContain("Starting · 3s");
  await clock.advance(2_000);
  expect(terminal.text).toContain("Starting · 5s");
  view.close();
});

test("replaces the status line with a question and restores it", () => {
  const { terminal, view } = setUp();
  view.put({ head: [lineOf("Something to judge")] });
  view.prompt(lineOf("Allow it?"));
  expect(terminal.text).toBe("Something to judge\n\nAllow it?");
  view.prompt(undefined);
  expect(terminal.text).toContain("Starting");
  view.interrupting();
  expect(terminal.text).toContain("Interrupting · 0s · Ctrl-C again to exit now");
  view.close();
  expect(terminal.text).toBe("Something to judge");
});

test("draws many small pieces together", async () => {
  const { clock, terminal, view } = setUp();
  await clock.advance(50);
  const before = terminal.writes;
  for (let offset = 0; offset < 100; offset += 1) {
    view.show({ type: "item/agentMessage/delta", data: { ...place, itemId: "m", delta: "a", offset } });
  }
  expect(terminal.writes - before).toBeLessThanOrEqual(1);
  await clock.advance(33);
  expect(terminal.text).toContain("a".repeat(60));
  view.close();
});

test("never needs more live rows than the terminal has", async () => {
  const { clock, terminal, view } = setUp({ columns: 20, rows: 6 });
  for (const id of ["1", "2", "3", "4"]) {
    const item = {
      type: "commandExecution",
      id,
      command: `run ${id}`,
      cwd: "/",
      status: "inProgress",
    } as const;
    view.show({ type: "item/started", data: { ...place, item } });
    view.show({
      type: "item/commandExecution/outputDelta",
      data: { ...place, itemId: id, delta: "a\nb\nc\n", offset: 0 },
    });
  }
  await clock.advance(100);
  expect(terminal.rows.length).toBeLessThanOrEqual(6);
  view.close();
});
