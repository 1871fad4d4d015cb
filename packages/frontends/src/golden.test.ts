import { readFileSync } from "node:fs";
import type { StoredEvent } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { expect, test } from "vitest";
import type { Dialect, Outbound } from "./dialect.ts";
import { flintDialect } from "./flint/dialect.ts";
import { harnessDialect } from "./harness/dialect.ts";

const fixture = (name: string) => new URL(`./fixtures/${name}.jsonl`, import.meta.url);

/** The log of a real thread, with its ids, times and folder made even. */
const events = readFileSync(fixture("turns.events"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredEvent);

const DOORS: readonly Dialect[] = [flintDialect, harnessDialect];

test.each(DOORS)(
  "a recorded thread becomes exactly these messages at a door ($vocabulary.name)",
  (dialect) => {
    const messages = events.flatMap((event) => dialect.outbound(event)).map(shown);
    expectGolden(fixture(`turns.${dialect.vocabulary.name}`), messages);
  },
);

test("the recorded thread has a thought, a command, a file change, approvals and three ends", () => {
  const types = new Set(events.map(({ type }) => type));
  expect([...types]).toEqual(
    expect.arrayContaining(["item/reasoning/textDelta", "approval/requested", "turn/diff/updated"]),
  );
  expect(events.filter(({ type }) => type === "turn/completed")).toHaveLength(3);
});

function shown(message: Outbound): object {
  if (message.kind === "settle") return message;
  const { kind, method, params } = message;
  return { kind, method, params };
}
