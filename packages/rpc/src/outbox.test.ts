import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Outbox, type OutboxOptions } from "./outbox.ts";

/** A sink that takes one write at a time and is drained by hand. */
class SlowSink {
  readonly writes: string[] = [];
  open = true;
  #drain: () => void = () => {};

  write(text: string): boolean {
    this.writes.push(text);
    return this.open;
  }

  onDrain(listener: () => void): void {
    this.#drain = listener;
  }

  drain(): void {
    this.#drain();
  }
}

function setUp(options: OutboxOptions = { limit: 1000 }) {
  const sink = new SlowSink();
  return { sink, outbox: new Outbox(sink, options) };
}

const microtasks = () => Promise.resolve();

describe("the outbox", () => {
  it("joins the lines of one tick into one write", async () => {
    const { sink, outbox } = setUp();
    outbox.send("a");
    outbox.send("b");
    expect(sink.writes).toEqual([]);
    await outbox.flushed();
    outbox.send("c");
    await outbox.flushed();
    expect(sink.writes).toEqual(["a\nb\n", "c\n"]);
  });

  it("waits for the drain and keeps the order", async () => {
    const { sink, outbox } = setUp();
    sink.open = false;
    outbox.send("a");
    await microtasks();
    outbox.send("b");
    outbox.send("c");
    await microtasks();
    expect(sink.writes).toEqual(["a\n"]);
    expect(outbox.size).toBe(6);
    sink.open = true;
    sink.drain();
    expect(sink.writes).toEqual(["a\n", "b\nc\n"]);
    expect(outbox.size).toBe(0);
  });

  it("counts what the sink has not drained, and reports when it is full and when it has drained", async () => {
    const { sink, outbox } = setUp({ limit: 10, lowWater: 4 });
    const calls: string[] = [];
    outbox.onFull(() => calls.push("full"));
    outbox.onDrain(() => calls.push(`drained at ${outbox.size}`));
    sink.open = false;
    outbox.send("1234");
    await microtasks();
    expect([outbox.size, outbox.full]).toEqual([5, false]);
    outbox.send("5678");
    outbox.send("still taken");
    expect([outbox.full, calls]).toEqual([true, ["full"]]);
    sink.drain();
    expect(calls).toEqual(["full"]);
    sink.drain();
    expect(calls).toEqual(["full", "drained at 0"]);
    outbox.send("0123456789");
    expect(calls).toEqual(["full", "drained at 0", "full"]);
  });

  it("lets a long backlog leave in pieces", async () => {
    const { sink, outbox } = setUp({ limit: 1_000_000 });
    sink.open = false;
    const line = "x".repeat(999);
    for (let sent = 0; sent < 500; sent += 1) outbox.send(line);
    await microtasks();
    const before = outbox.size;
    sink.drain();
    expect(before - outbox.size).toBeGreaterThan(0);
    expect(outbox.size).toBeGreaterThan(0);
    expect(Math.max(...sink.writes.map((text) => text.length))).toBeLessThan(70_000);
  });

  it("resolves flushed only after the drain", async () => {
    const { sink, outbox } = setUp();
    sink.open = false;
    outbox.send("a");
    let done = false;
    const flushed = outbox.flushed().then(() => {
      done = true;
    });
    await microtasks();
    expect(done).toBe(false);
    sink.drain();
    await flushed;
    expect(done).toBe(true);
  });

  it("hands over the last lines when it closes", () => {
    const { sink, outbox } = setUp();
    outbox.send("goodbye");
    outbox.close();
    outbox.send("too late");
    outbox.close();
    expect(sink.writes).toEqual(["goodbye\n"]);
  });

  it("closes at once when the sink is stuck, and leaves no caller waiting", async () => {
    const { sink, outbox } = setUp();
    sink.open = false;
    outbox.send("a");
    await microtasks();
    outbox.send("never");
    const flushed = outbox.flushed();
    outbox.close();
    await flushed;
    sink.drain();
    expect(sink.writes).toEqual(["a\n"]);
    expect(outbox.size).toBe(0);
  });

  it("writes every line once and in order, however slow the sink is", async () => {
    const steps = fc.array(
      fc.oneof(
        fc.constant("tick" as const),
        fc.constant("drain" as const),
        fc.constant("stall" as const),
        fc.nat(200),
      ),
    );
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const { sink, outbox } = setUp({ limit: 300 });
        const sent: string[] = [];
        for (const step of script) {
          if (step === "tick") await microtasks();
          else if (step === "drain") sink.drain();
          else if (step === "stall") sink.open = !sink.open;
          else sent.push(`${sent.length}${"-".repeat(step)}`);
          if (typeof step === "number") outbox.send(sent.at(-1) ?? "");
        }
        sink.open = true;
        sink.drain();
        await outbox.flushed();
        expect(sink.writes.join("")).toBe(sent.map((line) => `${line}\n`).join(""));
        expect(outbox.size).toBe(0);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
