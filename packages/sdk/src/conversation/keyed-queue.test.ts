import { describe, expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

describe("a keyed queue", () => {
  test("runs work of one key in order, also after a failure, and other keys beside it", async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = queue.run("a", async () => {
      log.push("a1 begins");
      await held;
      log.push("a1 ends");
      throw new Error("a1 failed");
    });
    const second = queue.run("a", async () => {
      log.push("a2");
      return 2;
    });
    await queue.run("b", async () => void log.push("b"));
    expect(log).toEqual(["a1 begins", "b"]);
    release();
    await expect(first).rejects.toThrow("a1 failed");
    expect(await second).toBe(2);
    await queue.settled();
    expect(log).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
  });
});
