import { settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { Holds } from "./keep-alive.ts";

test("nothing is waited for without a reason", async () => {
  await new Holds().released();
});

test("the last reason to wait ends the wait, also if it came while waiting", async () => {
  const holds = new Holds();
  const first = holds.add();
  let isReleased = false;
  const released = holds.released().then(() => {
    isReleased = true;
  });
  const second = holds.add();
  first();
  await settled();
  expect(isReleased).toBe(false);
  second();
  second();
  await released;
});
