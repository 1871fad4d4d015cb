import { settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { KeepAlive } from "./keep-alive.ts";

test("nothing is waited for without a reason", async () => {
  await new KeepAlive().released();
});

test("the last reason to wait ends the wait, also if it came while waiting", async () => {
  const holds = new KeepAlive();
  const first = holds.acquire();
  let isReleased = false;
  const released = holds.released().then(() => {
    isReleased = true;
  });
  const second = holds.acquire();
  first();
  await settled();
  expect(isReleased).toBe(false);
  second();
  second();
  await released;
});
