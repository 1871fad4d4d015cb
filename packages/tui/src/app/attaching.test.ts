import { Gate, type Script } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import type { SessionServer } from "./connection.ts";

const ENTER = "\r";
const SCREENS = ["inline", "full", "plain"] as const;

const latest = {
  findThread: async ({ client }: SessionServer) => (await client.listThreads()).data[0]?.id ?? "",
};

const BEGUN = "Above.\n\nThe first ha";
const WHOLE = "Above.\n\nThe first half.\n\nThe rest.";

/** A message that continues once the gate is open. */
const message = (gate: Gate): Script => [
  { emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } } },
  { emit: { type: "item/agentMessage/delta", itemId: "m", delta: BEGUN } },
  { wait: gate },
  { emit: { type: "item/agentMessage/delta", itemId: "m", delta: "lf.\n\nThe re" } },
  { emit: { type: "item/completed", item: { type: "agentMessage", id: "m", text: WHOLE } } },
];

/** Reasoning that does. */
const reasoning = (gate: Gate): Script => [
  { emit: { type: "item/started", item: { type: "reasoning", id: "r", content: "" } } },
  { emit: { type: "item/reasoning/textDelta", itemId: "r", delta: BEGUN } },
  { wait: gate },
  { emit: { type: "item/completed", item: { type: "reasoning", id: "r", content: WHOLE } } },
  { text: "Done." },
];

const streamed = [
  ["a message", message],
  ["reasoning", reasoning],
] as const;

/** Returns the number of times that a text is on the terminal. */
const count = ({ terminal }: SessionFixture, text: string) => {
  const shown = terminal.isAlternate ? terminal.screen.join("\n") : terminal.everything;
  return shown.split(text).length - 1;
};

describe.each(streamed)("in the middle of %s", (_, script) => {
  test.each(SCREENS)("a session that attaches shows all of it, once (%s)", async (screen) => {
    const gate = new Gate();
    const { engine, keys } = await begun(script(gate));
    await keys("go", ENTER);
    const other = await SessionFixture.open({ engine, start: latest, screen });
    gate.open();
    await other.settle();
    expect(["Above.", "The first half.", "The rest."].map((text) => count(other, text))).toEqual([1, 1, 1]);
  });

  test.each(SCREENS)("a session that connects again shows all of it, once (%s)", async (screen) => {
    const gate = new Gate();
    const { session, keys } = await begun(script(gate), screen);
    await keys("go", ENTER);
    await session.cut();
    await session.settle(5_000);
    gate.open();
    await session.settle();
    expect(["Above.", "The first half.", "The rest."].map((text) => count(session, text))).toEqual([1, 1, 1]);
  });

  test.each(SCREENS)("a session that was elsewhere shows the rest of it (%s)", async (screen) => {
    const gate = new Gate();
    const { session, keys } = await begun(script(gate), screen);
    await keys("go", ENTER, "/new", ENTER, "/back", ENTER);
    gate.open();
    await session.settle();
    expect(count(session, "The rest.")).toBe(1);
  });
});

async function begun(script: Script, screen: (typeof SCREENS)[number] = "inline") {
  const session = await SessionFixture.open({ scripts: [script], screen });
  return { session, engine: session.engine, keys: session.keys.bind(session) };
}
