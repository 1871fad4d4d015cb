import { describe, expect, it } from "vitest";
import { memoryPair, type Transport } from "./transport.ts";

function listen(transport: Transport): string[] {
  const seen: string[] = [];
  transport.start({ chunk: (text) => seen.push(String(text)), closed: () => seen.push("closed") });
  return seen;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a linked pair", () => {
  it("delivers asynchronously and in order in both directions", async () => {
    const [left, right] = memoryPair();
    const [atLeft, atRight] = [listen(left), listen(right)];
    expect(left.write("a")).toBe(true);
    left.write("b");
    right.write("c");
    expect(atRight).toEqual([]);
    await settled();
    expect([atLeft, atRight]).toEqual([["c"], ["a", "b"]]);
  });

  it("makes the writer wait while the other side is paused, and drains when it resumes", async () => {
    const [left, right] = memoryPair();
    const seen = listen(right);
    const drained: number[] = [];
    left.onDrain(() => drained.push(seen.length));
    right.pause();
    expect([left.write("a"), left.write("b")]).toEqual([false, false]);
    await settled();
    expect([seen, drained]).toEqual([[], []]);
    right.resume();
    await settled();
    expect([seen, drained]).toEqual([["a", "b"], [2]]);
    expect(left.write("c")).toBe(true);
  });

  it("buffers what is written before the other side starts", async () => {
    const [left, right] = memoryPair();
    expect(left.write("early")).toBe(false);
    const seen = listen(right);
    await settled();
    expect(seen).toEqual(["early"]);
  });

  it("stops in the middle when a chunk makes the receiver pause", async () => {
    const [left, right] = memoryPair();
    const seen: string[] = [];
    right.start({
      chunk: (text) => {
        seen.push(String(text));
        right.pause();
      },
      closed: () => {},
    });
    left.write("a");
    left.write("b");
    await settled();
    expect(seen).toEqual(["a"]);
    right.resume();
    await settled();
    expect(seen).toEqual(["a", "b"]);
  });

  it("closes both sides once, the other one after its last chunk", async () => {
    const [left, right] = memoryPair();
    const [atLeft, atRight] = [listen(left), listen(right)];
    left.write("last");
    left.close();
    left.close();
    right.close();
    await settled();
    expect(atLeft).toEqual(["closed"]);
    expect(atRight.filter((entry) => entry === "closed")).toEqual(["closed"]);
    expect(right.write("into the void")).toBe(true);
  });

  it("delivers what is still in flight before the close", async () => {
    const [left, right] = memoryPair();
    const seen = listen(right);
    right.pause();
    left.write("last");
    left.close();
    await settled();
    expect(seen).toEqual([]);
    right.resume();
    await settled();
    expect(seen).toEqual(["last", "closed"]);
  });

  it.each([
    ["paused", (transport: Transport) => void listen(transport)],
    ["never started", () => {}],
  ])("frees a waiting writer when the other side, %s, closes", async (_, begin) => {
    const [left, right] = memoryPair();
    begin(right);
    right.pause();
    expect(left.write("a")).toBe(false);
    const drained = new Promise<void>((resolve) => left.onDrain(resolve));
    right.close();
    await drained;
    expect(left.write("b")).toBe(true);
  });
});
