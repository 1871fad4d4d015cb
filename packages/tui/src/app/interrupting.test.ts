import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";

/** Views that can be in front of a running turn, and the keys that open them. */
const IN_FRONT: readonly (readonly [name: string, keys: readonly string[]])[] = [
  ["a menu", ["/permissions", ENTER]],
  ["the palette", ["\u0010"]],
  ["completions", ["/mod"]],
  ["a page", ["/status", ENTER]],
  ["a page that is searched", ["/status", ENTER, "/", "abc"]],
  ["the thread list", ["/threads", ENTER]],
  ["a thread that is renamed", ["/threads", ENTER, "r"]],
  ["the inbox", ["/inbox", ENTER]],
];

async function running(...keys: readonly string[]) {
  const gate = new Gate();
  const session = await SessionFixture.open({ scripts: [[{ wait: gate }, { text: "finished" }]] });
  await session.keys("hi", ENTER, ...keys);
  return { session, gate };
}

test.each(IN_FRONT)("Escape interrupts the turn behind %s", async (_, keys) => {
  const { session } = await running(...keys);
  await session.keys(ESCAPE);
  expect(session.terminal.isAlternate).toBe(false);
  expect(session.terminal.screen.join("\n")).toContain("Interrupted");
  expect(session.terminal.screen.join("\n")).not.toContain("to close");
});

test.each(IN_FRONT)("Ctrl-C closes %s, and the turn goes on", async (_, keys) => {
  const { session, gate } = await running(...keys);
  await session.keys(CTRL_C);
  // The field of a search or a name is closed before its page.
  if (session.terminal.isAlternate) await session.keys(CTRL_C);
  expect(session.terminal.screen.join("\n")).toContain("Esc to interrupt");
  gate.open();
  await session.settle();
  expect(session.terminal.everything).toContain("finished");
});

test("Escape interrupts the turn behind a question", async () => {
  const ask = [{ id: "colour", question: "Which colour?" }];
  const session = await SessionFixture.open({ scripts: [[{ ask }]] });
  await session.keys("hi", ENTER, "gre", ESCAPE);
  expect(session.terminal.everything).toContain("Interrupted");
  expect(session.terminal.screen.join("\n")).not.toContain("Which colour?");
});

test("Escape interrupts the turn behind the message of a decline, and Ctrl-C goes back to the choices", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("hi", ENTER, "m", "use npm");
  expect(session.terminal.screen.join("\n")).toContain("What should the agent do instead?");
  await session.keys(CTRL_C);
  expect(session.terminal.screen.join("\n")).toContain("Allow it?");
  await session.keys("m", ESCAPE);
  expect(session.terminal.everything).toContain("Interrupted");
});
