import type { CodexNotification } from "@flint/protocol/codex";
import { expect, test } from "vitest";
import { EarlyNotifications } from "./early-notifications.ts";

const warning = (message: string): CodexNotification => ({ method: "warning", params: { message } });

test("keeps the notifications of a thread until they are taken, once", () => {
  const early = new EarlyNotifications();
  early.add("a", warning("one"));
  early.add("b", warning("two"));
  expect(early.take("a")).toEqual([warning("one")]);
  expect(early.take("a")).toEqual([]);
  expect(early.take("b")).toEqual([warning("two")]);
});

test("drops the oldest threads when there are too many notifications", () => {
  const early = new EarlyNotifications();
  for (let index = 0; index < 300; index += 1) early.add(`t${index}`, warning("x"));
  expect(early.take("t0")).toEqual([]);
  expect(early.take("t299")).toHaveLength(1);
});

test("keeps no more than a megabyte, and nothing that is larger", () => {
  const early = new EarlyNotifications();
  early.add("huge", warning("x".repeat(2_000_000)));
  expect(early.take("huge")).toEqual([]);
  for (let index = 0; index < 4; index += 1) early.add(`t${index}`, warning("x".repeat(400_000)));
  expect([0, 1, 2, 3].map((index) => early.take(`t${index}`).length)).toEqual([0, 0, 1, 1]);
});
