import { readFileSync } from "node:fs";
import type { StoredEvent } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { expect, test } from "vitest";
import { flintFrontend } from "./flint/frontend.ts";
import { harnessFrontend } from "./harness/frontend.ts";
import type { Outgoing } from "./shared/encoder.ts";

const fixture = (name: string) => new URL(`./fixtures/${name}.jsonl`, import.meta.url);

/** The log of a real thread, with its ids, times and folder normalized. */
const events = readFileSync(fixture("turns.events"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredEvent);

test.each([flintFrontend(), harnessFrontend()])(
  "a recorded thread becomes exactly these messages ($vocabulary.name)",
  (frontend) => {
    const messages = events.flatMap((event) => frontend.events(event)).map(withoutFunctions);
    expectGolden(fixture(`turns.${frontend.vocabulary.name}`), messages);
  },
);

test("the recorded thread has reasoning, a command, a file change, approvals and three turns", () => {
  const types = new Set(events.map(({ type }) => type));
  expect([...types]).toEqual(
    expect.arrayContaining(["item/reasoning/textDelta", "approval/requested", "turn/diff/updated"]),
  );
  expect(events.filter(({ type }) => type === "turn/completed")).toHaveLength(3);
});

function withoutFunctions(message: Outgoing): object {
  if (message.kind === "resolved") return message;
  const { kind, method, params } = message;
  return { kind, method, params };
}
