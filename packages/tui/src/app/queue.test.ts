import { Gate, ScriptedDriver } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const TAB = "\t";
const DOWN = "\u001b[B";

/** A session whose turn waits, with two prompts in its queue. */
async function withQueue(options: ConstructorParameters<typeof ScriptedDriver>[0] = {}) {
  const gate = new Gate();
  const driver = new ScriptedDriver({
    scripts: [[{ wait: gate }, { text: "first done" }], [{ text: "A" }], [{ text: "B" }]],
    ...options,
  });
  const session = await SessionFixture.open({ driver });
  await session.keys("work", ENTER, "one", TAB, "two", TAB);
  const queued = () => session.terminal.screen.filter((row) => row.includes("queued:"));
  return { session, gate, queued, screen: () => session.terminal.screen.join("\n") };
}

test("a queued prompt is deleted, the others stay, and the menu goes on with them", async () => {
  const { session, gate, queued, screen } = await withQueue();
  await session.keys("/queue", ENTER, "x");
  expect(queued()).toEqual(["○ queued: two"]);
  expect(screen()).toMatch(/Queued inputs\n▸ two/);
  await session.keys("x");
  expect([queued(), screen().includes("Queued inputs")]).toEqual([[], false]);
  gate.open();
  await session.settle();
  expect(session.terminal.everything).not.toContain("› one");
});

test("a queued prompt that is sent now steers the running turn", async () => {
  const { session, gate, queued } = await withQueue();
  await session.keys("/queue", ENTER, DOWN, "s");
  expect(queued()).toEqual(["○ queued: one"]);
  expect(session.terminal.everything).toContain("› two");
  expect(session.engine.driver.sessions[0]?.turns[0]?.steers).toMatchObject([[{ text: "two" }]]);
  gate.open();
});

test("if the agent cannot be steered, Enter queues the prompt and says so", async () => {
  const { session, gate, queued, screen } = await withQueue({ steering: "absent" });
  await session.keys("three", ENTER);
  expect(screen()).toContain("This agent does not accept input during a turn; it stays queued.");
  expect(queued()).toEqual(["○ queued: one", "○ queued: two", "○ queued: three"]);
  gate.open();
  await session.settle();
  expect(session.terminal.everything).toMatch(/first done[\s\S]*› one[\s\S]*A/);
});
